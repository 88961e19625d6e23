// Drawing with Cairo into memory. Opaque RGB: a chart is looked at on whatever background the viewer has.
#include "render/chart/cairo_canvas.hpp"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <ft2build.h>
#include <libdeflate.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "model/error.hpp"
#include "render/chart/canvas.hpp"
#include "render/compress.hpp"
#include "text/text.hpp"
#include FT_FREETYPE_H

namespace roofline {
namespace {

constexpr std::string_view kFailure = "the chart can't be drawn";
constexpr double kPi = 3.14159265358979323846;

void set_source(cairo_t* context, const Color& c) {
  cairo_set_source_rgba(context, c.red / 255.0, c.green / 255.0, c.blue / 255.0, c.alpha);
}

/// No exception may pass through Cairo.
cairo_status_t append(void* closure, const unsigned char* data, unsigned length) try {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
} catch (const std::bad_alloc&) {
  return CAIRO_STATUS_NO_MEMORY;
}

/// Before each shape: Cairo's rasteriser crashes where it can't allocate a shape's edges (it longjmps to a place that
/// was never set). A shape needs less than 1 MB. What is freed here stays with this thread's heap.
void require_spare_memory() {
  constexpr std::size_t kSpare = std::size_t{8} << 20;
  ::operator delete(::operator new(kSpare));  // throws bad_alloc; a new-expression could be optimised away
}

[[noreturn]] void fail(FT_Error error, const char* why) {
  if (error == FT_Err_Out_Of_Memory) throw std::bad_alloc();
  throw Error(fmt::format("{}: {}", kFailure, why));
}

/// The embedded font for Cairo. The FreeType face must outlive Cairo's cached face, which owns it.
class FaceFile {
 public:
  explicit FaceFile(FontWeight weight) {
    const std::string_view file = Font::file(weight);
    if (const FT_Error error = FT_Init_FreeType(&library_)) fail(error, "FreeType does not start");
    if (const FT_Error error = FT_New_Memory_Face(library_, reinterpret_cast<const FT_Byte*>(file.data()),
                                                  static_cast<FT_Long>(file.size()), 0, &face_)) {
      FT_Done_FreeType(library_);
      fail(error, "the embedded font can't be read");
    }
  }
  ~FaceFile() { FT_Done_FreeType(library_); }  // and its faces
  FaceFile(const FaceFile&) = delete;
  FaceFile& operator=(const FaceFile&) = delete;
  FT_Face face() const { return face_; }

 private:
  FT_Library library_ = nullptr;
  FT_Face face_ = nullptr;
};

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  if (status != CAIRO_STATUS_SUCCESS) throw Error(fmt::format("{}: {}", kFailure, cairo_status_to_string(status)));
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

void add_chunk(std::string& png, std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  png += big_endian(static_cast<std::uint32_t>(data.size())) + body;
  png += big_endian(libdeflate_crc32(0, body.data(), body.size()));
}

/// An opaque image as PNG (RFC 2083). Cairo's writer would crash without memory: it leaves libpng's error handler no
/// place to return to.
std::string png_of(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
  const std::ptrdiff_t stride = cairo_image_surface_get_stride(surface);
  const unsigned char* const data = cairo_image_surface_get_data(surface);
  std::string rows;
  rows.reserve(static_cast<std::size_t>(height) * (1 + 3 * static_cast<std::size_t>(width)));
  for (std::ptrdiff_t y = 0; y < height; ++y) {
    rows += '\0';  // not filtered: most of a chart is of one colour
    for (std::ptrdiff_t x = 0; x < width; ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, data + y * stride + 4 * x, sizeof pixel);
      for (const unsigned shift : {16U, 8U, 0U}) rows += static_cast<char>(pixel >> shift & 0xffU);
    }
  }
  // 8 bits, RGB; the only methods of compression and filtering that there are; not interlaced.
  const std::string header = big_endian(static_cast<std::uint32_t>(width)) +
                             big_endian(static_cast<std::uint32_t>(height)) + std::string("\x08\x02\x00\x00\x00", 5);
  std::string png = "\x89PNG\r\n\x1a\n";
  add_chunk(png, "IHDR", header);
  add_chunk(png, "IDAT", compressed(rows));
  add_chunk(png, "IEND", {});
  return png;
}

class CairoCanvas : public Canvas {
 public:
  CairoCanvas(CairoFormat format, double scale) : format_(format), scale_(scale) {}

  void begin(const Scene& scene) override;
  void begin_layer(const Layer& layer) override;
  void begin_group(const Group& group) override;
  void draw(const Line& line) override;
  void draw(const Circle& circle) override;
  void draw(const Text& text) override;
  void end_group() override;
  void end_layer() override;
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

void CairoCanvas::open(const Scene& scene) {
  const double width = scene.width * scene.zoom * scale_, height = scene.height * scene.zoom * scale_;
  if (format_ == CairoFormat::png) {
    surface_.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width)),
                                              static_cast<int>(std::lround(height))));
    return;
  }
  surface_.reset(cairo_pdf_surface_create_for_stream(append, &bytes_, width, height));
  const std::string title = clean_line(scene.title);
  cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  // Without a date: the same report is the same file.
  cairo_pdf_surface_set_metadata(surface_.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
}

void CairoCanvas::begin(const Scene& scene) {
  clip_ = scene.clip;
  open(scene);
  check(cairo_surface_status(surface_.get()));
  context_.reset(cairo_create(surface_.get()));
  check(cairo_status(context_.get()));
  cairo_scale(context_.get(), scale_ * scene.zoom, scale_ * scene.zoom);
  set_source(context_.get(), scene.background);
  require_spare_memory();
  cairo_paint(context_.get());
}

void CairoCanvas::begin_layer(const Layer&) {}
void CairoCanvas::end_layer() {}

void CairoCanvas::begin_group(const Group& group) {
  cairo_save(context_.get());
  if (!group.clipped) return;
  cairo_rectangle(context_.get(), clip_.x, clip_.y, clip_.width, clip_.height);
  cairo_clip(context_.get());
}

void CairoCanvas::end_group() { cairo_restore(context_.get()); }

void CairoCanvas::paint(const std::optional<Color>& fill, const std::optional<Stroke>& stroke) {
  require_spare_memory();
  cairo_t* const context = context_.get();
  if (fill) {
    set_source(context, *fill);
    cairo_fill_preserve(context);
  }
  if (stroke) {
    set_source(context, stroke->color);
    cairo_set_line_width(context, stroke->width);
    cairo_set_dash(context, stroke->dash.data(), static_cast<int>(stroke->dash.size()), 0);
    cairo_set_line_cap(context, stroke->round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(context);
  }
  cairo_new_path(context);
}

void CairoCanvas::draw(const Line& line) {
  cairo_new_path(context_.get());
  for (const Vec& p : line.points) cairo_line_to(context_.get(), p.x, p.y);
  if (line.closed) cairo_close_path(context_.get());
  paint(line.fill, line.stroke);
}

void CairoCanvas::draw(const Circle& circle) {
  cairo_new_path(context_.get());
  cairo_arc(context_.get(), circle.center.x, circle.center.y, circle.radius, 0, 2 * kPi);
  paint(circle.fill, circle.stroke);
}

void CairoCanvas::trace(const std::string& text, const Font& font, double size) {
  cairo_t* const context = context_.get();
  Vec pen;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = next_code_point(rest);
    for (const Glyph::Segment& s : font.glyph(point.value).outline) {
      const Vec to = pen + s.to * size, c1 = pen + s.control_1 * size, c2 = pen + s.control_2 * size;
      switch (s.verb) {
        case Glyph::Verb::move:
          cairo_close_path(context);
          cairo_move_to(context, to.x, to.y);
          break;
        case Glyph::Verb::line:
          cairo_line_to(context, to.x, to.y);
          break;
        case Glyph::Verb::cubic:
          cairo_curve_to(context, c1.x, c1.y, c2.x, c2.y, to.x, to.y);
          break;
      }
    }
    pen.x += font.width(rest.substr(0, point.bytes), size);
    rest.remove_prefix(point.bytes);
  }
  cairo_close_path(context);
}

/// One glyph per character, with the text attached for copying and searching.
void CairoCanvas::show(const std::string& text, FontWeight weight, double size) {
  const auto at = static_cast<std::size_t>(weight);
  if (!faces_[at]) {
    auto file = std::make_unique<FaceFile>(weight);
    faces_[at].reset(cairo_ft_font_face_create_for_ft_face(file->face(), FT_LOAD_NO_HINTING));
    static const cairo_user_data_key_t kKey{};
    const FT_Face face = file->face();
    check(cairo_font_face_set_user_data(faces_[at].get(), &kKey, file.get(),
                                        [](void* owned) { delete static_cast<FaceFile*>(owned); }));
    file.release();  // NOLINT(bugprone-unused-return-value): Cairo's now
    ft_faces_[at] = face;
  }
  const Font& font = Font::of(weight);
  std::vector<cairo_glyph_t> glyphs;
  std::vector<cairo_text_cluster_t> clusters;
  double x = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = next_code_point(rest);
    glyphs.push_back({FT_Get_Char_Index(ft_faces_[at], point.value), x, 0});
    clusters.push_back({static_cast<int>(point.bytes), 1});
    x += font.width(rest.substr(0, point.bytes), size);
    rest.remove_prefix(point.bytes);
  }
  cairo_t* const context = context_.get();
  cairo_set_font_face(context, faces_[at].get());
  cairo_set_font_size(context, size);
  cairo_show_text_glyphs(context, text.data(), static_cast<int>(text.size()), glyphs.data(),
                         static_cast<int>(glyphs.size()), clusters.data(), static_cast<int>(clusters.size()),
                         static_cast<cairo_text_cluster_flags_t>(0));
}

void CairoCanvas::draw(const Text& text) {
  require_spare_memory();
  const std::string line = clean_line(text.text);
  const Font& font = Font::of(text.weight);
  const double width = font.width(line, text.size);
  cairo_t* const context = context_.get();
  cairo_save(context);
  cairo_translate(context, text.at.x, text.at.y);
  cairo_rotate(context, text.rotation * kPi / 180);
  if (text.anchor != Anchor::start) cairo_translate(context, text.anchor == Anchor::middle ? -width / 2 : -width, 0);
  cairo_new_path(context);
  trace(line, font, text.size);
  if (text.halo) {
    set_source(context, *text.halo);
    cairo_set_line_width(context, text.halo_width);
    cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(context, nullptr, 0, 0);
    cairo_stroke_preserve(context);
  }
  set_source(context, text.color);
  // A character that the font lacks is a box, which no font has.
  if (format_ == CairoFormat::pdf && font.covers(line)) {
    cairo_new_path(context);
    show(line, text.weight, text.size);
  } else {
    cairo_fill(context);
  }
  cairo_restore(context);
}

std::string CairoCanvas::finish() {
  check(cairo_status(context_.get()));
  if (format_ == CairoFormat::png) bytes_ = png_of(surface_.get());
  context_.reset();
  cairo_surface_finish(surface_.get());
  check(cairo_surface_status(surface_.get()));
  surface_.reset();
  return std::move(bytes_);
}

}  // namespace

std::string draw_with_cairo(const Scene& scene, CairoFormat format, double scale) {
  CairoCanvas canvas(format, scale);
  return draw_scene(scene, canvas);
}

}  // namespace roofline
