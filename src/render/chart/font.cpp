// Reads the embedded font with FreeType: unscaled outlines and advances, so nothing depends on hinting or
// on FreeType's rasteriser.
#include "render/chart/font.hpp"

#include <ft2build.h>

#include <memory>
#include <new>
#include <string>

#include "model/error.hpp"
#include "text/text.hpp"
#include FT_FREETYPE_H
#include FT_OUTLINE_H

// Placed by roofline_embed (src/render/chart/chart.cmake).
extern "C" {
extern const char roofline_font_regular_begin[], roofline_font_regular_end[];    // NOLINT(*-identifier-naming)
extern const char roofline_font_semibold_begin[], roofline_font_semibold_end[];  // NOLINT(*-identifier-naming)
}

namespace roofline {
namespace {

void check(FT_Error error, const char* what) {
  if (error == FT_Err_Out_Of_Memory) throw std::bad_alloc();
  if (error != 0) throw Error(std::string("the embedded font can't be read: ") + what);
}

struct OutlineReader {
  Glyph& glyph;
  double scale;  // 1 / units per em
  Vec current{};

  Vec map(const FT_Vector* v) const { return {static_cast<double>(v->x) * scale, static_cast<double>(-v->y) * scale}; }
  void add(Glyph::Verb verb, Vec c1, Vec c2, Vec to) {
    glyph.outline.push_back({verb, c1, c2, to});
    current = to;
  }
};

OutlineReader& reader(void* user) { return *static_cast<OutlineReader*>(user); }

int on_move(const FT_Vector* to, void* user) {
  reader(user).add(Glyph::Verb::move, {}, {}, reader(user).map(to));
  return 0;
}

int on_line(const FT_Vector* to, void* user) {
  reader(user).add(Glyph::Verb::line, {}, {}, reader(user).map(to));
  return 0;
}

int on_conic(const FT_Vector* control, const FT_Vector* to, void* user) {
  OutlineReader& r = reader(user);
  const Vec c = r.map(control), end = r.map(to);
  r.add(Glyph::Verb::cubic, r.current + (c - r.current) * (2.0 / 3), end + (c - end) * (2.0 / 3), end);
  return 0;
}

int on_cubic(const FT_Vector* c1, const FT_Vector* c2, const FT_Vector* to, void* user) {
  OutlineReader& r = reader(user);
  r.add(Glyph::Verb::cubic, r.map(c1), r.map(c2), r.map(to));
  return 0;
}

Glyph read_glyph(FT_Face face, FT_UInt index) {
  check(FT_Load_Glyph(face, index, FT_LOAD_NO_SCALE | FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP), "a glyph is broken");
  Glyph glyph;
  const double scale = 1.0 / face->units_per_EM;
  glyph.advance = static_cast<double>(face->glyph->metrics.horiAdvance) * scale;
  OutlineReader into{glyph, scale};
  const FT_Outline_Funcs functions = {on_move, on_line, on_conic, on_cubic, 0, 0};
  check(FT_Outline_Decompose(&face->glyph->outline, &functions, &into), "an outline is broken");
  return glyph;
}

/// Glyph for a missing character: an empty box. Inter's own is five bars, more prominent than any name.
Glyph empty_box() {
  Glyph glyph;
  glyph.advance = 0.62;
  const auto frame = [&glyph](double inset, bool forward) {
    const double left = 0.06 + inset, right = 0.56 - inset, bottom = -inset, top = -0.72 + inset;
    const Vec corners[] = {{left, bottom}, {left, top}, {right, top}, {right, bottom}};
    for (int i = 0; i < 4; ++i)
      glyph.outline.push_back(
          {i == 0 ? Glyph::Verb::move : Glyph::Verb::line, {}, {}, corners[forward ? i : (4 - i) % 4]});
  };
  frame(0, true);
  frame(0.06, false);  // wound the other way: a hole
  return glyph;
}

// Scripts whose characters fill the em square: what is missing there takes more room.
bool is_wide(char32_t c) { return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xD7A3) || c >= 0x1F300; }

}  // namespace

Font::Font(std::string_view file) {
  FT_Library library = nullptr;
  check(FT_Init_FreeType(&library), "FreeType does not start");
  const std::unique_ptr<FT_LibraryRec_, void (*)(FT_Library)> library_owner(library,
                                                                            [](FT_Library l) { FT_Done_FreeType(l); });
  FT_Face face = nullptr;
  check(FT_New_Memory_Face(library, reinterpret_cast<const FT_Byte*>(file.data()), static_cast<FT_Long>(file.size()), 0,
                           &face),
        "it is not a font");
  const std::unique_ptr<FT_FaceRec_, void (*)(FT_Face)> face_owner(face, [](FT_Face f) { FT_Done_Face(f); });
  FT_UInt index = 0;
  for (FT_ULong c = FT_Get_First_Char(face, &index); index != 0; c = FT_Get_Next_Char(face, c, &index))
    glyphs_.emplace(static_cast<char32_t>(c), read_glyph(face, index));
  missing_ = empty_box();
}

std::string_view Font::file(FontWeight weight) {
  return weight == FontWeight::regular ? std::string_view(roofline_font_regular_begin, roofline_font_regular_end)
                                       : std::string_view(roofline_font_semibold_begin, roofline_font_semibold_end);
}

const Font& Font::of(FontWeight weight) {
  static const Font kRegular(file(FontWeight::regular));
  static const Font kSemibold(file(FontWeight::semibold));
  return weight == FontWeight::regular ? kRegular : kSemibold;
}

const Glyph& Font::glyph(char32_t character) const {
  const auto found = glyphs_.find(character);
  return found == glyphs_.end() ? missing_ : found->second;
}

bool Font::covers(std::string_view utf8) const {
  for (const char32_t c : code_points(utf8))
    if (!glyphs_.contains(c)) return false;
  return true;
}

double Font::width(std::string_view utf8, double size) const {
  double advance = 0;
  for (const char32_t c : code_points(utf8)) {
    const bool known = glyphs_.contains(c);
    advance += known ? glyph(c).advance : std::max(missing_.advance, is_wide(c) ? 1.0 : 0.0);
  }
  return advance * size;
}

}  // namespace roofline
