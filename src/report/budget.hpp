// Divides the time of a step, a program or a suite into parts that add up to it, in exact seconds and as displayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// The parts of a GPU's wall time, in the order in which they are listed.
enum class WallPart : std::uint8_t {
  at_roof,  ///< attainable time of the kernels' work
  beyond,   ///< kernel time above that
  no_roof,  ///< kernels whose roof is not known
  copies,
  rank_wait,      ///< collectives that wait for another rank while no other kernel runs
  communication,  ///< collectives that transfer while no other kernel runs
  launching,
  waiting,
  elsewhere,
  idle_unknown,  ///< idle, in a recording without launches of the host
  before,
  after,
  counting,  ///< idle while the profiler reads counters
  unknown,   ///< not in any part, in files of other tools
};
inline constexpr std::size_t kWallParts = 14;
std::string_view to_string(WallPart part);  ///< id in files: "idle_launching"
/// "kernels at their roof", "idle: host launching".
std::string_view name_of(WallPart part);

struct WallShare {
  WallPart part = WallPart::unknown;
  double seconds = 0;
  std::int64_t steps = 0;  ///< in units of the last displayed digit
};

/// Wall time, divided without remainder: as exact seconds, and as displayed, where the rounded parts add up too.
struct Budget {
  std::string device;  ///< "GPU 0 · NVIDIA H200"; for all GPUs together "2 GPUs"
  double wall_s = 0;
  std::vector<WallShare> shares;  ///< parts above zero, in the order of WallPart
  std::int64_t steps = 0;         ///< total, in units of the last displayed digit
  double step_s = 1;              ///< seconds per unit of the last displayed digit

  double seconds(WallPart part) const;
  std::int64_t steps_of(WallPart part) const;
  bool has_roof() const { return seconds(WallPart::at_roof) > 0; }
  /// Share of the kernel time that has a roof, as a fraction; 0 without kernels.
  double roofed_share() const;
  /// True if the time at the roofs says something of all kernels.
  bool mostly_roofed() const { return has_roof() && roofed_share() >= 0.5; }
  /// "2.31 s"; "<0.01 s" if the value is too small for the digits.
  std::string text(std::int64_t steps) const;
  std::string text(const WallShare& share) const;
};

/// One budget per GPU: of the mean step if the program has steps, else of the whole run. For a suite, one budget with
/// one launch of each kernel.
std::vector<Budget> budgets(const Report& report);
/// Budgets of the whole run, even if the program has steps.
std::vector<Budget> run_budgets(const Report& report);
/// The sum of budgets() over all GPUs; with one GPU, its own. std::nullopt if no GPU was used.
std::optional<Budget> whole_budget(const Report& report);

}  // namespace roofline
