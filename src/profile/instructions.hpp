// Samples of GPU instructions, explained: which instruction a warp waited for, and at which source line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/sass.hpp"
#include "profile/process_trace.hpp"
#include "report/kernel_samples.hpp"
#include "sample/gpu_lines.hpp"

namespace roofline {

/// Samples of one kernel: by offset in bytes and reason ("long_scoreboard").
using SamplesByReason = std::map<std::uint64_t, std::map<std::string, std::int64_t>>;

/// "long_scoreboard" of CUPTI's name; empty of a metric that is no reason, or counts samples a second time.
std::string_view stall_reason(std::string_view metric);

/// What a warp waits for that is found before `kind` for that reason. `waited`: the kinds of instructions that set what
/// it waits for, the nearest first.
WaitFor wait_for(std::string_view reason, SassKind kind, std::span<const SassKind> waited);

/// `function`: its code; nothing where it was not kept, and then lines and instructions are not known.
SampledKernel explain_samples(std::string_view symbol, const SamplesByReason& samples,
                              const std::optional<GpuFunction>& function);

/// Of all processes. Reads the code that was kept beside their spools.
KernelSamples kernel_samples(const std::vector<ProcessTrace>& traces);

/// Reads the source lines. Only of a program that has just run here: the paths come from its code.
void add_source_text(KernelSamples& samples);

/// The waits of a kernel as shares, for its rows.
SampledKind sampled_kind(const SampledKernel& kernel);

}  // namespace roofline
