// Idle time of the GPUs as potential savings, by cause and line.
#pragma once

#include <functional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/idle_causes.hpp"
#include "profile/steps.hpp"

namespace roofline {

/// The parts of the idle time within some spans, as idle_parts() has them of one recording and its samples.
using IdleParts = std::function<std::vector<IdlePart>(const std::vector<Span>&)>;

/// Of the steady steps; without steps of `active`. What a few slow steps lose more than others do is `one_off`, and
/// so are modules that are loaded where there are no steps.
std::vector<SavingClaim> idle_savings(const FoundSteps& found, const std::vector<Span>& active, const IdleParts& parts,
                                      Framework framework);

}  // namespace roofline
