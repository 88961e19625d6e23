// The time of a step, of a program or of a suite, divided into parts that add up to it, as exact seconds and as shown.
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
  rank_wait,      ///< collectives that wait for another rank, without another kernel
  communication,  ///< collectives that transfer, without another kernel
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
std::string_view to_string(WallPart part);  ///< "idle_launching", as files have it
/// "kernels at their roof", "idle: host launching".
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

/// One for each GPU: of a step where the program has steps (their mean), else of the whole run; of a suite one launch
/// of each kernel, as one.
std::vector<Budget> budgets(const Report& report);
/// The same of the whole run, also of a program with steps.
std::vector<Budget> run_budgets(const Report& report);
/// budgets() of all GPUs together; of one GPU its own. Nothing where no GPU was seen.
std::optional<Budget> whole_budget(const Report& report);

}  // namespace roofline
