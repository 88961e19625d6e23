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

/// The source of a row's FLOPs and bytes: "counted", "modelled", "stated"; empty where it has none, and for suites.
std::string_view work_source(const Point& point);

/// Whether its bytes are a lower bound (modelled): the intensity shown is an upper bound, the share of a memory roof a
/// lower bound.
bool bytes_is_lower_bound(const Point& point);
/// "≤ " before such an intensity and "≥ " before such a share; empty where the figure is exact.
std::string upper_bound_mark(const Point& point);
std::string lower_bound_mark(const Point& point);

/// Whether a row's figures were not traced and counted by roofline itself: then each row names its sources.
bool shows_sources(const Report& report);
/// The sources of times, FLOPs and bytes, as sentences.
std::string where_figures_are_from(const Report& report);

/// Why a program's row has no work; empty where it has.
std::string why_no_work(const Point& point);

/// Bytes over time, as a share of the roof; NaN if there is no roof.
double fraction_of_roof(const CopySum& copy);
/// Bytes that cross the limiting roof: a copy within one memory reads and writes its size.
double moved_bytes(const CopySum& copy);
/// moved_bytes() over time: "2.64 TB/s read + write".
std::string rate_text(const CopySum& copy);

/// "train.py --steps 100": the program and its arguments, without the folder.
std::string program_name(const Profile& profile);

/// Whether launches have start times: a file of means, or of launches that were replayed one by one, has a sum of times
/// and no wall time.
bool has_wall_time(const Report& report);
/// The wall time (for a suite the kernel time), and how long the same work would take at the roofs.
std::string answer(const Report& report);
/// "The other 5.81 s: 3.02 s kernels below their roof; …", the largest first.
std::string time_above_roofs(const Report& report);
/// Whether no GPU was used and the host's samples are the answer.
bool is_of_host(const Report& report);
/// Why there are no roofs, and how to get them; empty with counters, and where there is no kernel.
std::string why_no_roofs(const Report& report);

/// Rows of kernels, the one that takes the most time first; all rows, as indices into Report::points.
std::vector<std::size_t> by_total_time(const Report& report);
/// Of the time of all kernels; NaN where that is not known.
double share_of_time(const Report& report, const Point& point);
/// Seconds of all launches of a row: of a program's row its total, else the median.
double cost_of(const Point& point);
/// "blocks.0.attn › model.py:31 forward": where a kernel is launched, as far as it is known.
std::string where_from(const ProfiledKind& kind);

/// "12 of 35 kernels are not on the chart: 8 execute no FLOPs and 4 were not counted."; empty where all are.
std::string off_chart(const Report& report);

/// Facts about the recording, one per line: {"Launches", "24,900 launched, all recorded"}.
std::vector<std::pair<std::string, std::string>> completeness(const Report& report);

/// The counterparts of alarms(), run_facts() and findings() for a profile.
Findings profile_alarms(const Report& report);
Findings profile_facts(const Report& report);
Findings profile_findings(const Report& report);

}  // namespace roofline
