// Why the steps of a program take their time, by what the GPUs did: copies and kernels that need not be there.
#pragma once

#include <vector>

#include "model/machine.hpp"
#include "profile/claims.hpp"
#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/report.hpp"

namespace roofline {

/// Causes that the trace of the uncounted steps shows, with line, evidence and action. Each saving is at most the time
/// of the copies or kernels that it is taken from, and no copy or kernel is in two of them. `points` are the rows of
/// recording.groups, in their order. Idle time is not in here: see idle_parts().
std::vector<SavingClaim> causes_of(const Recording& recording, const FoundSteps& steps,
                                   const std::vector<Point>& points, const Machine& machine);

}  // namespace roofline
