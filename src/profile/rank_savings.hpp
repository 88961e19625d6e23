// Losses of a job of several ranks by waiting for one of them and by exposed communication.
#pragma once

#include <optional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/communication_kinds.hpp"
#include "profile/late_rank.hpp"
#include "profile/savings.hpp"
#include "profile/slow_link.hpp"
#include "profile/small_messages.hpp"

namespace roofline {

/// Losses as claims on the rows of collectives. `rows`: times within the steps.
RankSavings rank_savings(const Job& job, const RankSteps& steps, const std::optional<LateFinding>& late,
                         const SmallMessages& small, const CommunicationKinds& kinds,
                         const std::optional<SlowLink>& slow, const Ranks& report, const RowTimes& rows,
                         Framework framework);

/// Changes slow launches that are mostly a communication hook's to its cause, at the line of the backward pass.
void name_hooks(std::vector<IdlePart>& parts, const Recording& recording);

/// Changes synchronisations at lines that launch collectives to barriers: they wait for all ranks.
void name_barriers(std::vector<IdlePart>& parts, const Recording& recording);

}  // namespace roofline
