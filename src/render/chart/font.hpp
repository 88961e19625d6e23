// The chart's own font: Inter in two weights, embedded in the binary. Its outlines and advances are read
// once into plain data, so that both canvases measure text alike and none needs a font on the machine.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "render/chart/geometry.hpp"

namespace roofline {

enum class FontWeight : std::uint8_t { regular, semibold };

/// One glyph in units of the font size, y pointing down from the baseline.
struct Glyph {
  enum class Verb : std::uint8_t { move, line, cubic };
  struct Segment {
    Verb verb = Verb::move;
    Vec control_1, control_2, to;
  };
  double advance = 0;
  std::vector<Segment> outline;
};

class Font {
 public:
  /// The embedded font. Loaded at the first call; safe to share between threads.
  static const Font& of(FontWeight weight);

  /// The font file itself (OpenType), for embedding in a page.
  static std::string_view file(FontWeight weight);

  /// The glyph of a character, or the font's box for one that it does not have.
  const Glyph& glyph(char32_t character) const;
  bool covers(std::string_view utf8) const;

  /// Width in pixels of one line of text at `size` pixels. No kerning.
  double width(std::string_view utf8, double size) const;

  /// Heights above and below the baseline that text takes, in units of the size.
  static constexpr double kAscent = 0.76;
  static constexpr double kDescent = 0.22;

 private:
  explicit Font(std::string_view file);

  std::map<char32_t, Glyph> glyphs_;
  Glyph missing_;
};

}  // namespace roofline
