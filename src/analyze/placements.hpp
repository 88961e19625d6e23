// Other places of a case's tensors, for experiments on alignment.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/suite.hpp"
#include "op/case.hpp"

namespace roofline {

/// Each tensor 17 cache lines further into its page than the one before: 64 of them have different offsets.
CasePlacement staggered_placement(std::size_t tensors);

/// Tensors moved so that the pointers that a suite's kernel gets begin a cache line; std::nullopt if all do.
std::optional<CasePlacement> aligned_placement(const SuiteEntry& entry, const Workload& workload);

/// Inputs moved by one element backwards, and forwards: for kernels that begin their loops at the second or the last
/// element.
std::vector<CasePlacement> shifted_placements(const SuiteEntry& entry, const Workload& workload);

}  // namespace roofline
