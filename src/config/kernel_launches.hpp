// The launches of a suite's kernel: entries, arguments, grids and threads. Internal to src/config.
#pragma once

#include <vector>

#include "config/kernel_draft.hpp"

namespace roofline {

/// Adds the steps of `steps`, or the one that the kernel's own keys describe. Throws UsageError.
void read_steps(KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members);

}  // namespace roofline
