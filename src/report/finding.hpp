// What a report, a machine or a node says of itself: the kind, which code and tests know, and the sentence for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofline {

enum class FindingKind : std::uint8_t {
  // Of a run.
  incomplete,       ///< rows are missing, for the run did not end
  cancelled,        ///< by the user
  rows_failed,      ///< wrong output, an error or a crash
  rows_unverified,  ///< timed without a verification that passed
  work_mismatch,    ///< work that the suite states and its buffers or formulas contradict
  partly_cached,    ///< rows faster than main memory can be: cold ones that were not, hot ones larger than the caches
  faster_now,       ///< rows above their roof, as the calibration's own probe beside them
  above_suspect,    ///< rows above a suspect or provisional roof
  above_roof,       ///< rows above their roof, with no such reason
  badly_measured,   ///< rows whose times are too uncertain
  row_counts,       ///< how many were verified and timed
  bound_counts,     ///< by what they are bound
  largest_saving,   ///< the row with the largest potential saving
  next_savings,     ///< those after it
  clock_limited,    ///< rows below the clock of the burst roof
  rows_at_roof,
  not_on_chart,  ///< timed rows without FLOPs or without bytes
  unused_unit,   ///< matrix products that use none of the machine's units for them
  // Of a machine's ceilings.
  noisy_ceilings,        ///< suspect, because others used the machine while they were measured
  provisional_ceilings,  ///< not yet measured often or steadily enough to be confirmed
  failed_check,          ///< suspect by another check
  slower_than_earlier,   ///< suspect, below an earlier calibration
  lower_clock,           ///< below an earlier calibration by their clock
  varying_speed,         ///< how far below its best the machine typically was while it was calibrated
  // Of a profiled program.
  program_failed,      ///< a signal or an exit status that is not 0
  records_dropped,     ///< by the driver
  process_torn,        ///< a process did not close its recording, or its spool is torn
  recording_overhead,  ///< the program took longer by the recording
  // Of a CPU program whose instructions were counted.
  counts_incomplete,    ///< the emulated run ended early
  code_without_counts,  ///< it did not execute code that takes time
  counts_without_time,  ///< it executed code that the native run did not
  // Of a node.
  not_measured,
  slow_device_links,  ///< all links of a device
  slow_link,
  no_peer_access,
  slow_device,  ///< a roof of one device below the others'
  shared_drop,  ///< what falls when all devices work
};

struct Finding {
  FindingKind kind;
  std::string text;  ///< whole sentences, with their figures
};

using Findings = std::vector<Finding>;

}  // namespace roofline
