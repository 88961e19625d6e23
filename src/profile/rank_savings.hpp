// What a job of several ranks loses by waiting for one of them and by communication without overlap.
#pragma once

#include <optional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/communication_kinds.hpp"
#include "profile/late_rank.hpp"
#include "profile/savings.hpp"
#include "profile/small_messages.hpp"

namespace roofline {

/// What the ranks lose, as claims on the rows of collectives. `rows`: times within the steps.
RankSavings rank_savings(const Job& job, const RankSteps& steps, const std::optional<LateFinding>& late,
                         const SmallMessages& small, const CommunicationKinds& kinds, const Ranks& report,
                         const RowTimes& rows, Framework framework);

/// A synchronisation at a line that launches a collective waits for all ranks: a barrier.
void name_barriers(std::vector<IdlePart>& parts, const Recording& recording);

}  // namespace roofline
