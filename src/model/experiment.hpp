// Results of experiments: a row run again with one thing changed, on a CPU without performance counters. Plain data;
// analyze/experiments.hpp runs them, report/diagnosis derives causes from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/ceiling.hpp"

namespace roofline {

/// The changed condition. docs/method.md ("Diagnosis by experiment") explains what each shows.
enum class ExperimentKind : std::uint8_t {
  in_cache,            ///< core time: a working set in L2 on one thread, over the row's time (thread count considered)
  in_l1,               ///< for a row in L2: a working set in L1
  all_threads,         ///< CPU time of all threads over that of one, each with a working set of that size in its L2
  slowest_thread,      ///< CPU time of the slowest thread over the mean of all threads, of the row itself
  double_size,         ///< twice the size, per unit of work
  other_type,          ///< fp32 instead of the row's 16-bit type, in L2, per element
  small_pages,         ///< buffers on 4 KiB pages instead of huge pages
  staggered,           ///< buffers at different offsets within a page
  realigned,           ///< buffers shifted by less than a cache line: the best shift tried
  flushed_subnormals,  ///< subnormal numbers flushed to zero by the processor, in L2
  reassociated,        ///< compiled so that sums may be reordered, in L2
  unvectorized,        ///< compiled without vectors, in L2
  multiplied,          ///< divide instructions assembled as multiplications, in L2
  unforwarded,         ///< loads that read what narrower stores wrote read other memory, in L2
  line_visits,         ///< no change; from an access trace: visits to a cache line until everything accessed of it was
  page_jumps,          ///< no change; from an access trace: fraction of accesses that enter another page
  ascending_indices,   ///< inputs that select elements of other buffers in ascending order, of the row itself
};
std::string_view to_string(ExperimentKind kind);
std::optional<ExperimentKind> parse_experiment_kind(std::string_view text);

struct Experiment {
  ExperimentKind kind = ExperimentKind::in_cache;
  std::string variant;  ///< what ran instead: "n=32768, 1 thread"
  /// Time per unit of work of the changed run over that of its baseline, or what is described above.
  double ratio = 1;
  Interval ci95;           ///< interval of the ratio; NaN if there is none
  std::int64_t count = 0;  ///< staggered: the number of buffers; of a trace: accesses; else 0
  /// Unvectorized: why the compiler did not vectorise the loop with most of the time: "scale.c:4: control flow in
  /// loop."; empty: unknown, or vectorised.
  std::string remark = {};
};

}  // namespace roofline
