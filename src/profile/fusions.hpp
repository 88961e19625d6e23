// Consecutive memory-bound kernels of one stream that could pass their results in registers.
#pragma once

#include <vector>

#include "model/machine.hpp"
#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/report.hpp"

namespace roofline {

/// A claim for the sequences at the lines of each function, of those that begin in `spans` (sorted, disjoint; empty:
/// anywhere). Elementwise kernels save all but the time of the traffic that is left; others save the traffic that they
/// pass on. `points` are the recording's groups in order.
std::vector<SavingClaim> fusions_of(const Recording& recording, const std::vector<Point>& points,
                                    const Machine& machine, const std::vector<Span>& spans, Framework framework);

}  // namespace roofline
