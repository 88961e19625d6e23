// What warps wait for, from the GPU's stall reasons and the instructions involved.
#pragma once

#include <span>
#include <string_view>

#include "device/sass.hpp"
#include "report/kernel_samples.hpp"

namespace roofline {

/// "long_scoreboard" for CUPTI's metric name; empty for metrics that are no reason or count samples twice.
std::string_view stall_reason(std::string_view metric);

/// True for waits for a result of variable latency.
bool is_scoreboard(std::string_view reason);

/// The wait that an instruction of that kind causes in its users.
WaitFor wait_of(SassKind kind);

/// What a warp waits for before an instruction `kind` with that stall reason. `waited`: kinds of the instructions that
/// produce its operands, nearest first.
WaitFor wait_for(std::string_view reason, SassKind kind, std::span<const SassKind> waited);

}  // namespace roofline
