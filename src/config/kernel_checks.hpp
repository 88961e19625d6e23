// What must hold of a suite's kernel when all of its keys are known. Internal to src/config.
#pragma once

#include <vector>

#include "config/kernel_draft.hpp"

namespace roofline {

/// Requires exactly one expectation that covers all outputs. Throws UsageError.
void check_expectation(const KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members);

/// Every name in every formula is that of something, and no name of two things. Throws UsageError.
void check_names(const KernelDraft& draft);

}  // namespace roofline
