// What a program's profile says, in figures and sentences: the same in the page, in Markdown and in the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// A program that took so much longer with us has idle time that may be ours, which is not explained.
inline constexpr double kMostInflation = 0.1;

std::string_view to_string(WinKind kind);
std::optional<WinKind> parse_win_kind(std::string_view text);

/// Where a row's FLOPs and bytes are from: "counted", "modelled", "stated"; empty where it has none, or is no
/// program's.
std::string_view work_source(const Point& point);

/// Whether its bytes are the least that there can be: the intensity is at most, and the share of a memory roof at
/// least, what is shown.
bool bytes_are_least(const Point& point);
/// "≤ " and "≥ " before such an intensity and such a share; empty where the figure is what it says.
std::string at_most(const Point& point);
std::string at_least(const Point& point);

/// Whether rows differ in where their figures are from, or are not all traced and counted by ourselves: then each says
/// it.
bool tells_sources(const Report& report);
/// Where times, FLOPs and bytes are from, in sentences.
std::string where_figures_are_from(const Report& report);

/// Why a program's row has no work; empty where it has.
std::string why_no_work(const Point& point);

/// Bytes over time, as a share of the roof; NaN where there is none.
double fraction_of_roof(const CopySum& copy);

/// "train.py --steps 100": the program and its arguments, without the folder.
std::string program_name(const Profile& profile);

/// What the wall time of a GPU goes to, in the order in which it is told.
enum class WallPart : std::uint8_t {
  at_roof,   ///< what the kernels' work needs at the measured roofs
  beyond,    ///< what kernels take beyond that
  roofless,  ///< kernels whose roof is not known
  copies,
  launching,
  waiting,
  elsewhere,
  before,
  after,
  counting,  ///< nothing ran, and the program waited for counters to be read
  unknown,   ///< what the file leaves; nothing in a recording of ours
};
inline constexpr std::size_t kWallParts = 11;
/// "kernels at their roof", "idle, the host launches".
std::string_view name_of(WallPart part);

struct WallShare {
  WallPart part = WallPart::unknown;
  double seconds = 0;
  std::int64_t steps = 0;  ///< in the last digit that is shown
};

/// Wall time, divided without remainder: as exact seconds, and as shown, where rounded parts add up to the whole too.
struct Budget {
  std::string device;  ///< "GPU 0 · NVIDIA H200"; of all GPUs together "2 GPUs"
  double wall_s = 0;
  std::vector<WallShare> shares;  ///< those that are not nothing, in the order of WallPart
  std::int64_t steps = 0;         ///< of the whole
  double step_s = 1;              ///< seconds of the last digit that is shown

  double seconds(WallPart part) const;
  std::int64_t steps_of(WallPart part) const;
  bool has_roof() const { return seconds(WallPart::at_roof) > 0; }
  /// "2.31 s"; of something too small for the digits "<0.01 s".
  std::string text(std::int64_t steps) const;
  std::string text(const WallShare& share) const;
};

/// One for each GPU; of a suite one launch of each kernel, as one.
std::vector<Budget> budgets(const Report& report);
/// Of all GPUs together; of one GPU its own. Nothing where no GPU was seen.
std::optional<Budget> whole_budget(const Report& report);

/// The answer in one sentence: the wall time (of a suite its kernels'), and what the same work would take at the roofs.
std::string answer(const Report& report);
/// "Of the other 5.81 s: 3.02 s kernels beyond their roof, …", the largest first.
std::string where_the_rest_is(const Report& report);
/// Why nothing can be said of roofs, and what would allow it; empty with counters.
std::string why_no_roofs(const Report& report);

/// Rows of kernels, the one that takes the most time first; all rows, as indices into Report::points.
std::vector<std::size_t> by_total_time(const Report& report);
/// Of the time of all kernels; NaN where that is not known.
double share_of_time(const Report& report, const Point& point);
/// Seconds of all launches of a row: of a program's row its total, else the median.
double cost_of(const Point& point);
/// "blocks.0.attn › model.py:31 forward": where a kernel is launched, as far as it is known.
std::string where_from(const ProfiledKind& kind);

/// "12 of 35 kernels are not on the chart: 8 do no FLOPs and 4 were not counted."; empty where all are.
std::string off_chart(const Report& report);

/// What there is to know of the recording, one fact a line: {"Launches", "24,900 seen, all recorded"}.
std::vector<std::pair<std::string, std::string>> completeness(const Report& report);

/// Plain sentences for a profile, as alarms(), run_facts() and findings() have them for a suite.
Findings profile_alarms(const Report& report);
Findings profile_facts(const Report& report);
Findings profile_findings(const Report& report);

}  // namespace roofline
