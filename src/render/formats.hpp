// The formats that a report can be written in: a table with one row per format.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "render/render.hpp"

namespace roofline {

struct Format {
  using Text = std::string (*)(const Runs&);
  /// With the chart of these runs, laid out with these options.
  using Drawn = std::string (*)(const Runs&, const ChartDrawing&, const ChartOptions&);

  std::string_view name;  ///< value of --format, and file extension
  std::string_view file;  ///< file name in a run's folder
  std::variant<Text, Drawn> render;
  bool usual = true;       ///< written when no format is asked for
  bool several = true;     ///< holds several runs
  bool recorded = false;   ///< of recordings of programs only: a timeline, or samples of threads
  bool may_crash = false;  ///< may crash when out of memory: rendered in a separate process

  bool draws_chart() const { return std::holds_alternative<Drawn>(render); }
};

/// Formats in output order.
const std::vector<Format>& formats();

/// The format of that name, or null.
const Format* find_format(std::string_view name);

/// Default formats for `runs` runs.
std::vector<const Format*> usual_formats(std::size_t runs = 1);

/// The names of all.
std::vector<std::string> format_names();

/// Of those that a report of timed kernels can have: without formats of recordings.
std::vector<std::string> timed_format_names();

}  // namespace roofline
