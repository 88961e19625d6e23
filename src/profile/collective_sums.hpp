// The collectives of a job by kind, size and number of ranks, and their roofs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bound.hpp"
#include "model/machine.hpp"
#include "model/work.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// std::nullopt for collectives without a bus bandwidth.
std::optional<Work> work_of_collective(std::string_view name, int ranks, double bytes);

/// std::nullopt also for those without a roof.
std::optional<Bound> bound_of_collective(std::string_view name, int ranks, double bytes, const Machine& machine);

/// The line that launches the collectives of a group; empty: unknown.
std::string line_of_group(const Recording& recording, int group);

/// Collectives in the steps, most waiting and exposed time first.
std::vector<CollectiveSum> collective_sums(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                           const Machine& machine);

}  // namespace roofline
