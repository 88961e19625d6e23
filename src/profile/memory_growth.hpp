// Whether memory in use becomes more and more: by what is never freed again. Pure.
#pragma once

#include <optional>
#include <vector>

namespace roofline {

/// The least that was in use in an interval, which begins at `time_s`.
struct LeastMemory {
  double time_s = 0;
  double bytes = 0;
};

struct MemoryTrend {
  double bytes = 0, seconds = 0;  ///< from the first window to the last one
  double bytes_per_s = 0;         ///< Theil-Sen
};

/// The growth over `begin_s` to `end_s`, which should be steady steps. In each of some windows, the least that is in
/// use from there on is never freed again. It must become more in most windows, and at the end about as fast as before:
/// memory that levels off, or that is freed every now and then, does not grow. `step_s`: the length of a step, which
/// windows exceed; 0: not known. `samples` are in any order.
std::optional<MemoryTrend> growth_of(const std::vector<LeastMemory>& samples, double begin_s, double end_s,
                                     double step_s);

}  // namespace roofline
