// Samples of GPU instructions, explained: which instruction a warp waited for, and at which source line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/process_trace.hpp"
#include "report/kernel_samples.hpp"
#include "sample/gpu_lines.hpp"

namespace roofline {

/// Samples of one kernel: by offset in bytes and reason ("long_scoreboard").
using SamplesByReason = std::map<std::uint64_t, std::map<std::string, std::int64_t>>;

/// `function`: its code; nothing where it was not kept, and then lines and instructions are not known.
SampledKernel explain_samples(std::string_view symbol, const SamplesByReason& samples,
                              const std::optional<GpuFunction>& function);

/// Of all processes. Reads the code that was kept beside their spools.
KernelSamples kernel_samples(const std::vector<ProcessTrace>& traces);

/// What rows of the kernel keep of its waits.
SampledKind sampled_kind(const SampledKernel& kernel);

}  // namespace roofline
