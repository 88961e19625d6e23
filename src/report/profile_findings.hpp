// Findings of a program's profile as figures and sentences, the same for page, Markdown and terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/budget.hpp"
#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// Above this slowdown by the profiler, idle time is not analysed: part of it is profiler overhead.
inline constexpr double kMostInflation = 0.1;

std::string_view to_string(SavingKind kind);
std::optional<SavingKind> parse_saving_kind(std::string_view text);

/// Bandwidth of the copies as a fraction of the roof; NaN without a roof.
double fraction_of_roof(const CopySum& copy);
/// Bytes that cross the limiting roof: a copy within one memory both reads and writes its size. NaN
/// where sizes are unknown.
double moved_bytes(const CopySum& copy);
/// moved_bytes() over time: "2.64 TB/s read + write".
std::string rate_text(const CopySum& copy);

/// "train.py --steps 100": the program and its arguments, without the folder.
std::string program_name(const Profile& profile);

/// True if no GPU was used, so that host samples give the answer.
bool is_of_host(const Report& report);
/// Kernel rows by total time, largest first, as indices into Report::points.
std::vector<std::size_t> by_total_time(const Report& report);
/// Fraction of the time of all kernels; NaN if unknown.
double share_of_time(const Report& report, const Point& point);
/// Seconds of all launches of a profiled row; for suites the median.
double cost_of(const Point& point);
/// "blocks.0.attn › model.py:31 forward": where a kernel is launched, as far as known.
std::string where_from(const ProfiledKind& kind);

/// "12 of 35 kernels are not on the chart: 8 execute no FLOPs and 4 were not counted."; empty if all are.
std::string off_chart(const Report& report);

/// Facts about the recording, one per line: {"Launches", "24,900 launched, all recorded"}.
std::vector<std::pair<std::string, std::string>> completeness(const Report& report);

/// alarms(), run_facts() and findings() of a profile.
Findings profile_alarms(const Report& report);
Findings profile_facts(const Report& report);
Findings profile_findings(const Report& report);

}  // namespace roofline
