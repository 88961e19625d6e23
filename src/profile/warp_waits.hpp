// What warps wait for, from the reasons that the GPU gives and the instructions that they wait for.
#pragma once

#include <span>
#include <string_view>

#include "device/sass.hpp"
#include "report/kernel_samples.hpp"

namespace roofline {

/// "long_scoreboard" of CUPTI's name; empty of a metric that is no reason, or counts samples a second time.
std::string_view stall_reason(std::string_view metric);

/// A wait for a result that comes when it comes.
bool is_scoreboard(std::string_view reason);

/// What an instruction of that kind has others wait for.
WaitFor wait_of(SassKind kind);

/// What a warp waits for that is found before `kind` for that reason. `waited`: the kinds of instructions that set what
/// it waits for, the nearest first.
WaitFor wait_for(std::string_view reason, SassKind kind, std::span<const SassKind> waited);

}  // namespace roofline
