// A finding about a report, machine or node: its kind, for code and tests, and its sentence, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofline {

enum class FindingKind : std::uint8_t {
  // Runs.
  incomplete,       ///< rows are missing because the run ended early
  cancelled,        ///< cancelled by the user
  rows_failed,      ///< wrong output, an error or a crash
  rows_unverified,  ///< rows timed without passing verification
  work_mismatch,    ///< the suite's stated work contradicts its buffers or formulas
  partly_cached,   ///< rows faster than main memory allows: cold rows that were cached, hot rows larger than the caches
  faster_now,      ///< rows above their roof whose reference probe was also faster than calibrated
  above_suspect,   ///< rows above a suspect or provisional roof
  above_roof,      ///< rows above their roof without such a reason
  badly_measured,  ///< rows with too uncertain times
  row_counts,      ///< number of verified and timed rows
  bound_counts,    ///< number of rows by bound
  largest_saving,  ///< the row with the largest potential saving
  next_savings,    ///< the savings after it
  clock_limited,   ///< rows at a clock below that of the burst roof
  rows_at_roof,
  not_on_chart,  ///< timed rows without FLOPs or without bytes
  unused_unit,   ///< matrix products that use no matrix unit although the machine has one
  // Ceilings of a machine.
  noisy_ceilings,        ///< suspect because of other load during the measurement
  provisional_ceilings,  ///< not yet measured often or steadily enough
  failed_check,          ///< suspect because of another failed check
  slower_than_earlier,   ///< suspect because it is below an earlier calibration
  earlier_ceilings,      ///< ceilings are from an earlier calibration
  lower_clock,           ///< below an earlier calibration because of the clock
  varying_speed,         ///< typical speed during calibration, compared with the best
  // Profiled programs.
  program_failed,      ///< terminated by a signal, or nonzero exit status
  records_dropped,     ///< records dropped by the driver
  process_torn,        ///< a process did not close its recording, or its spool is truncated
  recording_overhead,  ///< slowdown caused by the recording
  // CPU programs with counted instructions.
  counts_incomplete,    ///< the emulated run ended early
  code_without_counts,  ///< code that takes time but was not executed in the emulated run
  counts_without_time,  ///< code that was executed in the emulated run only
  // Nodes.
  not_measured,
  slow_device_links,  ///< all links of a device are slow
  slow_link,
  no_peer_access,
  slow_device,  ///< a roof of one device is below the others'
  shared_drop,  ///< rates that drop when all devices work
};

struct Finding {
  FindingKind kind;
  std::string text;  ///< complete sentences with figures
};

using Findings = std::vector<Finding>;

}  // namespace roofline
