// The colours of a chart, by role, in both themes. Every colour has its role, which the SVG carries as a
// class (f-ink, s-grid), so that a page can theme a chart whose own colours are literal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/render.hpp"

namespace roofline {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  double alpha = 1;
  std::string_view role;

  std::string hex() const;  ///< "#0072b2"; "#fff" where that is equivalent
};

/// Shapes of points; they distinguish families together with the colour, also in grey scale.
enum class MarkerShape : std::uint8_t { circle, square, triangle, diamond, wedge, pentagon, cross, hexagon };
inline constexpr std::size_t kMarkerStyles = 8;

struct Palette {
  Color background, ink, muted, faint, grid, grid_minor, axis;
  Color roof_main, roof, roof_idle;  ///< the roofline itself, ceilings in use, ceilings that no point uses
  Color roof_other;                  ///< lines and names of the machine of the earlier run
  Color under;                       ///< the area below the roofline
  Color band;                        ///< confidence intervals
  Color suspect;                     ///< a ceiling that failed its audit
  Color above;                       ///< a point above its roof
  std::vector<Color> families;       ///< kMarkerStyles of them: Okabe-Ito, adapted to the background

  std::vector<Color> all() const;
};

const Palette& palette(Theme theme);

/// CSS rules that give every role its colour of `theme`: ".f-ink{fill:#1f2328}.s-ink{stroke:#1f2328}…".
std::string theme_css(Theme theme);

}  // namespace roofline
