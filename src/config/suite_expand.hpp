// From an entry with sweeps to single workloads. Internal to src/config.
#pragma once

#include <vector>

#include "config/suite.hpp"
#include "config/suite_entry.hpp"

namespace roofline {

/// The workloads of an entry on one kind of device: shapes slowest, then dtypes, implementations, cache
/// modes. Throws UsageError for shapes that the op refuses and for unknown implementations.
std::vector<SuiteEntry> expand(const EntrySpec& entry, DeviceKind device);

/// Gives every workload a unique label: the suite's, else op, dtype and shape, and further parts where labels would be
/// equal.
void make_labels_unique(std::vector<SuiteEntry>& entries);

}  // namespace roofline
