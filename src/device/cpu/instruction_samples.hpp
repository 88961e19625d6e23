// Addresses of the instructions that a run executes, sampled by a timer, without performance counters.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace roofline {

/// Calls `run` until `seconds` have passed, and samples the process's threads a thousand times per second of their CPU
/// time, or as often as the system's timer allows. Empty where this is unsupported.
std::vector<std::uintptr_t> sample_instructions(double seconds, const std::function<void()>& run);

}  // namespace roofline
