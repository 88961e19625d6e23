// Potential savings of GPU idle time, by cause and line.
#pragma once

#include <functional>
#include <vector>

#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/idle_causes.hpp"
#include "profile/steps.hpp"

namespace roofline {

/// Idle parts within some spans: idle_parts() for one recording and its samples.
using IdleParts = std::function<std::vector<IdlePart>(const std::vector<Span>&)>;

/// For the steady steps, or for `active` without steps. Excess idle time of a few slow steps is `one_off`, as is module
/// loading without steps.
std::vector<SavingClaim> idle_savings(const FoundSteps& found, const std::vector<Span>& active, const IdleParts& parts,
                                      Framework framework);

}  // namespace roofline
