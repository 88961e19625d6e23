// Progress as lines of JSON on stderr, for programs that run a command: {"progress":{"current":"fp32","left_s":12}}.
#pragma once

#include <optional>
#include <string>

namespace roofline {

/// The environment variable that asks for such lines, with the value kProgressLines.
inline constexpr const char* kProgressVariable = "ROOFLINE_PROGRESS";
inline constexpr const char* kProgressLines = "lines";

struct ProgressReport {
  std::string current = {};
  std::optional<double> left_s = std::nullopt;
};

/// The line, with a line feed.
std::string to_progress_line(const ProgressReport& report);
/// std::nullopt if the line is something else.
std::optional<ProgressReport> parse_progress_line(const std::string& line);

}  // namespace roofline
