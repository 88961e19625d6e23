// SVG text. Literal colours (var() is not honoured outside browsers), text as text, no style element.
#pragma once

#include "render/chart/canvas.hpp"

namespace roofline {

class SvgCanvas : public Canvas {
 public:
  /// A page shows hidden groups, and paints by class: there no element names the colour of its role, and a layer names
  /// what most of its elements have in common.
  /// `beside`: another chart of the same page has the titles and data of the groups with an id.
  explicit SvgCanvas(bool for_page = false, bool beside = false) : for_page_(for_page), beside_(beside) {}

  void begin(const Scene& scene) override;
  bool keeps_hidden() const override { return for_page_; }
  void begin_layer(const Layer& layer) override;
  void begin_group(const Group& group) override;
  void draw(const Line& line) override;
  void draw(const Circle& circle) override;
  void draw(const Text& text) override;
  void end_group() override;
  void end_layer() override;
  std::string finish() override;

 private:
  /// Attributes that elements inherit: by default those of the root, which has no sizes.
  struct Inherited {
    std::string stroke_width = "3", font_size, weight = "400", anchor = "start";
  };

  std::string paint_attributes(const std::optional<Color>& fill, const std::optional<Stroke>& stroke) const;
  std::string common_paint(const Group& group) const;
  static Inherited common_of(const Layer& layer);
  void end_path();
  int decimals() const { return beside_ ? 1 : 2; }  ///< of coordinates

  bool for_page_, beside_;
  bool layer_is_decoration_ = false;  ///< nothing in it is for screen readers
  bool layer_is_hidden_ = false;
  Inherited inherited_;
  std::string out_;
  std::string group_paint_;  ///< of all shapes of the open group; empty where each has its own
  std::string open_paint_;   ///< paint of the open path, to which lines may be added; empty if no path is open
  std::string open_path_;
};

}  // namespace roofline
