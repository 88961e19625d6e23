// Savings of communication that no kernel overlaps, by its cause.
#pragma once

#include <optional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/communication_kinds.hpp"
#include "profile/ranks.hpp"
#include "profile/slow_link.hpp"

namespace roofline {

/// Claims on the time of collectives, without rows for it. Their `seconds` are those of all ranks in all steps.
/// `small_s`: of a rank in all steps, in small collectives that another saving covers.
std::vector<SavingClaim> exposed_savings(const Job& job, const RankSteps& steps, const CommunicationKinds& kinds,
                                         const std::optional<SlowLink>& slow, const Ranks& report, double small_s,
                                         Framework framework);

}  // namespace roofline
