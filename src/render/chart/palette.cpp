// Light and dark colours. The families are Okabe and Ito's colour-blind-safe set; on the dark background
// its blue and black would sink, so they are lightened there.
#include "render/chart/palette.hpp"

#include <fmt/format.h>

namespace roofline {
namespace {

constexpr Color rgb(std::uint32_t hex, std::string_view role, double alpha = 1) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8 & 0xff),
          static_cast<std::uint8_t>(hex & 0xff), alpha, role};
}

Palette light() {
  Palette p;
  p.background = rgb(0xffffff, "bg");
  p.ink = rgb(0x1f2328, "ink");
  p.muted = rgb(0x59636e, "muted");
  p.faint = rgb(0x8c959f, "faint");
  p.grid = rgb(0xe2e7ec, "grid");
  p.grid_minor = rgb(0xf1f4f6, "grid-minor");
  p.axis = rgb(0x6e7781, "axis");
  p.roof_main = rgb(0x1f2328, "roof-main");
  p.roof = rgb(0x59636e, "roof");
  p.roof_idle = rgb(0xa9b1ba, "roof-idle");
  p.under = rgb(0x0072b2, "under", 0.045);
  p.band = rgb(0x59636e, "band", 0.22);
  p.suspect = rgb(0xb54708, "suspect");
  p.above = rgb(0xcf222e, "above");
  p.families = {rgb(0x0072b2, "family-0"), rgb(0xd55e00, "family-1"), rgb(0x009e73, "family-2"),
                rgb(0xcc79a7, "family-3"), rgb(0xe69f00, "family-4"), rgb(0x56b4e9, "family-5"),
                rgb(0x33383d, "family-6"), rgb(0x8a7a00, "family-7")};
  return p;
}

Palette dark() {
  Palette p;
  p.background = rgb(0x0d1117, "bg");
  p.ink = rgb(0xf0f6fc, "ink");
  p.muted = rgb(0x9ea7b3, "muted");
  p.faint = rgb(0x6e7681, "faint");
  p.grid = rgb(0x242b34, "grid");
  p.grid_minor = rgb(0x171d25, "grid-minor");
  p.axis = rgb(0x848d97, "axis");
  p.roof_main = rgb(0xf0f6fc, "roof-main");
  p.roof = rgb(0xa4adb8, "roof");
  p.roof_idle = rgb(0x565e68, "roof-idle");
  p.under = rgb(0x56b4e9, "under", 0.06);
  p.band = rgb(0xa4adb8, "band", 0.28);
  p.suspect = rgb(0xf0a35e, "suspect");
  p.above = rgb(0xff7b72, "above");
  p.families = {rgb(0x56b4e9, "family-0"), rgb(0xf58a45, "family-1"), rgb(0x2fc79b, "family-2"),
                rgb(0xe9a3cb, "family-3"), rgb(0xf2bb45, "family-4"), rgb(0xa9dcfa, "family-5"),
                rgb(0xd0d7de, "family-6"), rgb(0xf0e442, "family-7")};
  return p;
}

}  // namespace

std::string Color::hex() const {
  const auto doubled = [](std::uint8_t channel) { return channel % 0x11 == 0; };
  if (doubled(red) && doubled(green) && doubled(blue))
    return fmt::format("#{:x}{:x}{:x}", red / 0x11, green / 0x11, blue / 0x11);
  return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue);
}

std::vector<Color> Palette::all() const {
  std::vector<Color> out = {background, ink,  muted,     faint, grid, grid_minor, axis,
                            roof_main,  roof, roof_idle, under, band, suspect,    above};
  out.insert(out.end(), families.begin(), families.end());
  return out;
}

const Palette& palette(Theme theme) {
  static const Palette kLight = light();
  static const Palette kDark = dark();
  return theme == Theme::light ? kLight : kDark;
}

std::string theme_css(Theme theme, std::string_view scope) {
  std::string css;
  for (const Color& c : palette(theme).all())
    css += fmt::format("{0}.f-{1}{{fill:{2}}}{0}.s-{1}{{stroke:{2}}}", scope, c.role, c.hex());
  return css;
}

}  // namespace roofline
