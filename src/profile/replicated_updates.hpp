// Updates of parameters that all ranks of a job compute alike, although each of them could compute a part.
#pragma once

#include <optional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/ranks.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Matrix products in functions that PyTorch's optimizer calls, after an all-reduce of the gradients: their operands
/// are equal on all ranks. `samples` show which functions these are. std::nullopt: less than a twentieth of the steps.
std::optional<SavingClaim> replicated_updates(const Job& job, const Recording& recording, const HostSamples& samples,
                                              const std::vector<Span>& steps, Framework framework);

}  // namespace roofline
