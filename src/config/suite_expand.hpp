// From an entry with sweeps to single workloads. Internal to src/config.
#pragma once

#include <vector>

#include "config/suite.hpp"
#include "config/suite_entry.hpp"

namespace roofline {

/// The workloads of an entry on one kind of device: shapes slowest, then dtypes, implementations, cache
/// modes. Throws UsageError for shapes that the op refuses and for implementations that nobody has.
std::vector<SuiteEntry> expand(const EntrySpec& entry, DeviceKind device);

/// Gives every workload a label of its own: what the suite says, else op, dtype and shape, and whatever
/// else tells the ones apart that would share it.
void make_labels_unique(std::vector<SuiteEntry>& entries);

}  // namespace roofline
