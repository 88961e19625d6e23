// Potential savings of a program, with evidence and action: the list that a profile opens with.
#pragma once

#include <vector>

#include "profile/claims.hpp"
#include "profile/idle_savings.hpp"
#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/steps.hpp"
#include "report/report.hpp"

namespace roofline {

/// What ranks lose by each other.
struct RankSavings {
  std::vector<SavingClaim> claims = {};  ///< on the time of collectives
  double copies_s = 0;                   ///< of a late rank's copies, which one of these claims is about
};

/// Potential savings in the uncounted steps, without steps in the whole recording: largest first, disjoint, each at
/// most the part of the wall time that it comes from, none below a thousandth of the whole. `points` are the
/// recording's groups in their order, with their bounds; `rows` their times within the steps. Idle time is left out
/// where the profiler slowed the program by more than `kMostInflation`.
std::vector<Saving> savings_of(const Recording& recording, const FoundSteps& found, const std::vector<Point>& points,
                               const RowTimes& rows, const Machine& machine, const Profile& profile,
                               const IdleParts& idle, RankSavings of_ranks = {});

}  // namespace roofline
