// Light and dark colours. The families are after Okabe and Ito's colour-blind-safe set; on the dark background its blue
// and black would sink, so they are lightened there, and on white its orange and sky blue would (2.3:1), so they are
// darkened here. Marks are at least 3:1 against their background.
#include "render/chart/palette.hpp"

#include <fmt/format.h>

#include <array>

#include "model/find.hpp"

namespace roofline {
namespace {

/// A role's colour, as 0xrrggbb, in either theme; `alpha` where it is not opaque.
struct ThemeColor {
  Color Palette::*color;
  std::string_view name;
  std::uint32_t light, dark;
  double light_alpha = 1, dark_alpha = 1;
};
constexpr ThemeColor kRoles[] = {{&Palette::background, "bg", 0xffffff, 0x0d1117},
                                 {&Palette::ink, "ink", 0x1f2328, 0xf0f6fc},
                                 {&Palette::muted, "muted", 0x59636e, 0x9ea7b3},
                                 {&Palette::faint, "faint", 0x8c959f, 0x6e7681},
                                 {&Palette::grid, "grid", 0xe2e7ec, 0x242b34},
                                 {&Palette::grid_minor, "grid-minor", 0xf1f4f6, 0x171d25},
                                 {&Palette::axis, "axis", 0x6e7781, 0x848d97},
                                 {&Palette::roof_main, "roof-main", 0x1f2328, 0xf0f6fc},
                                 {&Palette::roof, "roof", 0x59636e, 0xa4adb8},
                                 {&Palette::roof_idle, "roof-idle", 0xa9b1ba, 0x565e68},
                                 {&Palette::under, "under", 0x0072b2, 0x56b4e9, 0.045, 0.06},
                                 {&Palette::band, "band", 0x59636e, 0xa4adb8, 0.22, 0.28},
                                 {&Palette::roof_other, "roof-other", 0x8250df, 0xbc8cff},
                                 {&Palette::suspect, "suspect", 0xb80090, 0xff4fb8},
                                 {&Palette::above, "above", 0xcf222e, 0xff7b72}};
constexpr std::string_view kFamilyNames[] = {"family-0", "family-1", "family-2", "family-3",
                                             "family-4", "family-5", "family-6", "family-7"};
constexpr std::uint32_t kLightFamilies[] = {0x0072b2, 0xd55e00, 0x009e73, 0xc46fa0,
                                            0xb07d00, 0x2a93d1, 0x33383d, 0x7a5195};
constexpr std::uint32_t kDarkFamilies[] = {0x56b4e9, 0xf58a45, 0x2fc79b, 0xe9a3cb,
                                           0xf2bb45, 0xa9dcfa, 0xd0d7de, 0xb79af0};

Color rgb(std::uint32_t hex, std::string_view role, double alpha = 1) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8 & 0xff),
          static_cast<std::uint8_t>(hex & 0xff), alpha, role};
}

Palette make(Theme theme) {
  const bool light = theme == Theme::light;
  Palette palette;
  for (const ThemeColor& role : kRoles)
    palette.*role.color = rgb(light ? role.light : role.dark, role.name, light ? role.light_alpha : role.dark_alpha);
  for (std::size_t i = 0; i < kMarkerStyles; ++i)
    palette.families.push_back(rgb(light ? kLightFamilies[i] : kDarkFamilies[i], kFamilyNames[i]));
  return palette;
}

}  // namespace

std::string Color::hex() const {
  const auto doubled = [](std::uint8_t channel) { return channel % 0x11 == 0; };
  if (doubled(red) && doubled(green) && doubled(blue))
    return fmt::format("#{:x}{:x}{:x}", red / 0x11, green / 0x11, blue / 0x11);
  return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue);
}

std::vector<Color> Palette::all() const {
  std::vector<Color> out;
  for (const ThemeColor& role : kRoles) out.push_back(this->*role.color);
  out.insert(out.end(), families.begin(), families.end());
  return out;
}

const Palette& palette(Theme theme) {
  static const Palette kLight = make(Theme::light);
  static const Palette kDark = make(Theme::dark);
  return theme == Theme::light ? kLight : kDark;
}

std::string theme_css(Theme theme) {
  // Nothing is filled with the colour of a line.
  static constexpr std::array<std::string_view, 6> kLines = {"grid",      "grid-minor", "axis",
                                                             "roof-main", "roof",       "roof-idle"};
  std::string css;
  for (const Color& c : palette(theme).all()) {
    if (!contains(kLines, c.role)) css += fmt::format(".f-{}{{fill:{}}}", c.role, c.hex());
    css += fmt::format(".s-{}{{stroke:{}}}", c.role, c.hex());
  }
  return css;
}

}  // namespace roofline
