// Causes of lost GPU time in the steps of a program: avoidable copies and kernels.
#pragma once

#include <vector>

#include "model/machine.hpp"
#include "profile/claims.hpp"
#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/report.hpp"

namespace roofline {

class SourceTexts;

/// Causes visible in the trace of the uncounted steps, with line, evidence and action. Each saving is at most the time
/// of its copies or kernels, and each of these belongs to one saving only. `points` are the rows of recording.groups,
/// in order. Idle time is not included: see idle_parts(). `sources`: null where the program's source text is not known.
std::vector<SavingClaim> causes_of(const Recording& recording, const FoundSteps& steps,
                                   const std::vector<Point>& points, const Machine& machine,
                                   SourceTexts* sources = nullptr);

}  // namespace roofline
