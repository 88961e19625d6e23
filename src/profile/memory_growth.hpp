// Detects growth of memory in use, from memory that is never freed. Pure.
#pragma once

#include <optional>
#include <vector>

namespace roofline {

/// Minimum in use during an interval that begins at `time_s`.
struct LeastMemory {
  double time_s = 0;
  double bytes = 0;
};

struct MemoryTrend {
  double bytes = 0, seconds = 0;  ///< from the first to the last window
  double bytes_per_s = 0;         ///< Theil-Sen estimate
};

/// Growth between `begin_s` and `end_s`, which should be steady steps. The minimum of each window from there on is
/// memory that is never freed. It must grow in most windows, and at the end about as fast as before: memory that levels
/// off or is freed periodically does not grow. `step_s`: length of a step, which windows exceed; 0: unknown. `samples`
/// in any order.
std::optional<MemoryTrend> growth_of(const std::vector<LeastMemory>& samples, double begin_s, double end_s,
                                     double step_s);

}  // namespace roofline
