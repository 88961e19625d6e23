// Potential savings of a program, with evidence and action: the first list of a profile.
#pragma once

#include <vector>

#include "profile/claims.hpp"
#include "profile/idle_savings.hpp"
#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/steps.hpp"
#include "report/report.hpp"

namespace roofline {

class SourceTexts;

/// Losses of ranks by each other.
struct RankSavings {
  std::vector<SavingClaim> claims = {};  ///< claims on the time of collectives
  double copies_s = 0;                   ///< time of a late rank's copies, which one of these claims covers
};

/// Potential savings in the uncounted steps, or in the whole recording without steps: largest first, disjoint, each at
/// most its part of the wall time, none below a thousandth of the total. `points` are the recording's groups in order,
/// with bounds; `rows` their times within the steps. Idle time is excluded if the profiler slowed the program by more
/// than `kMostInflation`. `sources`: null where the program's source text is not known.
std::vector<Saving> savings_of(const Recording& recording, const FoundSteps& found, const std::vector<Point>& points,
                               const RowTimes& rows, const Machine& machine, const Profile& profile,
                               const IdleParts& idle, RankSavings of_ranks = {}, SourceTexts* sources = nullptr);

}  // namespace roofline
