// Charts of bars in rows (timeline, flame graphs): complete drawings that the page's script makes zoom and search.
// Places are in per cent of the width, so that zooming changes one element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Texts come from outside: they are cleaned, shortened and escaped.
struct PageBar {
  double at = 0, width = 0;  ///< per cent; no bar without a width
  std::string style;         ///< CSS class with its colour
  std::string name;
  std::string rest;    ///< further text: "1.2 ms, from 3 ms"
  int row = -1;        ///< row of the table of kernels; -1: none
  double density = 1;  ///< merged bars: covered fraction
};

/// A row of bars at that height of the drawing.
std::string html_bar_row(std::string_view name, double y, double height, const std::vector<PageBar>& bars);

struct BarChart {
  std::string id;
  std::string label = {};             ///< for screen readers
  double height = 0;                  ///< pixels
  std::string attributes = {};        ///< of the drawing: " data-length=\"0.1\""
  std::string rows = {}, above = {};  ///< html_bar_row() of each row; fixed content above that does not zoom
  std::string below = {};             ///< what zooms, below the rows: an axis
};
/// Search and buttons, which require the script, and the drawing.
std::string html_bar_chart(const BarChart& chart);

/// An entry of a legend for each pair of class and name.
std::string html_bar_legend(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace roofline
