// A PNG or a PDF, drawn by Cairo. A picture's text is filled outlines of the embedded font: Cairo's own text interfaces
// would ask the machine for fonts. A PDF's is text of that same font, embedded, so that it can be searched and copied.
#pragma once

#include <cairo.h>
#include <ft2build.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "render/chart/canvas.hpp"
#include FT_FREETYPE_H

namespace roofline {

enum class CairoFormat : std::uint8_t { png, pdf };

class CairoCanvas : public Canvas {
 public:
  /// `scale` device pixels for each CSS pixel; a PDF's are points.
  CairoCanvas(CairoFormat format, double scale) : format_(format), scale_(scale) {}

  void begin(const Scene& scene) override;
  void begin_layer(const Layer& layer) override;
  void begin_group(const Group& group) override;
  void draw(const Line& line) override;
  void draw(const Circle& circle) override;
  void draw(const Text& text) override;
  void end_group() override;
  void end_layer() override;
  /// The file's bytes. Throws Error when Cairo reports one.
  std::string finish() override;

 private:
  struct Release {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
  };

  void open(const Scene& scene);
  void paint(const std::optional<Color>& fill, const std::optional<Stroke>& stroke);
  void trace(const std::string& text, const Font& font, double size);
  void show(const std::string& text, FontWeight weight, double size);

  CairoFormat format_;
  double scale_;
  Rect clip_;
  std::string bytes_;  ///< outlives the surface, which writes a PDF into it to the last
  std::unique_ptr<cairo_surface_t, Release> surface_;
  std::unique_ptr<cairo_t, Release> context_;
  std::array<std::unique_ptr<cairo_font_face_t, Release>, 2> faces_;  ///< by weight; of a PDF
  std::array<FT_Face, 2> ft_faces_{};                                 ///< theirs
};

}  // namespace roofline
