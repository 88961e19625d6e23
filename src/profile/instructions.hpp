// Explains samples of GPU instructions: what a warp waited for, and at which source line.
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

/// Samples of one kernel by offset in bytes and reason ("long_scoreboard").
using SamplesByReason = std::map<std::uint64_t, std::map<std::string, std::int64_t>>;

/// `function`: its code; std::nullopt if it was not kept, which leaves lines and instructions unknown.
SampledKernel explain_samples(std::string_view symbol, const SamplesByReason& samples,
                              const std::optional<GpuFunction>& function);

/// Samples of all processes. Reads the code kept beside their spools.
KernelSamples kernel_samples(const std::vector<ProcessTrace>& traces);

/// Summary of a kernel's waits, stored in its rows.
SampledKind sampled_kind(const SampledKernel& kernel);

}  // namespace roofline
