// Shared by all pages: fonts, style sheets, and the frame of pages without scripts.
#pragma once

#include <string>
#include <string_view>

#include "render/render.hpp"

namespace roofline {

/// The letters, as @font-face.
std::string html_letters();

/// assets/page.css, and assets/dark.css for screens that are dark.
std::string_view html_base_style();
std::string_view html_dark_style();

/// A page without a script: `style` in addition to the base style, and the body.
std::string html_still_page(std::string_view title, std::string_view tool_version, std::string_view style,
                            std::string_view body);

/// A chart in such a page, and below 760 pixels one that is laid out for them. With html_chart_style().
std::string html_still_chart(const Runs& runs, const ChartOptions& options);
std::string html_chart_style();

}  // namespace roofline
