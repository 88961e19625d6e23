// The buffers of a suite's kernel, in `buffers` or among its arguments. Internal to src/config.
#pragma once

#include <vector>

#include "config/kernel_draft.hpp"

namespace roofline {

/// Adds a buffer to the kernel. Throws UsageError.
void read_buffer(KernelDraft& draft, const YamlValue& yaml, const std::vector<YamlMember>& members);

}  // namespace roofline
