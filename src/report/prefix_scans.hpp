// Text that is walked from its start to a position, by the text of source lines: to count the lines before an error, or
// the characters before a token. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "report/host_causes.hpp"

namespace roofline {

inline constexpr std::string_view kPrefixScans = "prefix-scans";
inline constexpr std::string_view kPrefixScansFinding = "goes to scanning text from its start to a position";
inline constexpr std::string_view kPrefixScansAction =
    "Keep a table of the positions where lines start, and search it (partition_point in Rust, bisect in Python, "
    "std::upper_bound in C++); or go on from the last position.";

/// "text[..offset].matches('\n').count()", "text.count("\n", 0, pos)", "std::count(s.begin(), s.begin() + pos, '\n')".
/// No text of a single line, and nothing up to a length: "buffer[..n]".
bool scans_prefix(std::string_view source);

/// "for c in text[..offset].chars() {", "for (char c : text.substr(0, pos)) {": each step of the loop is such a scan's.
bool begins_prefix_loop(std::string_view source);

/// A loop of C that counts: its header is "for (i = 0; i < pos; ++i)", and its body has "if (text[i] == '\n')".
bool counts_lines_before(std::string_view header, std::string_view body);

/// Of compiled code. Python's lines have python_work_at. `peak_bytes`: resident memory of the largest process; 0:
/// unknown.
std::optional<HostCause> prefix_scans(const HostProfile& host, double peak_bytes);

}  // namespace roofline
