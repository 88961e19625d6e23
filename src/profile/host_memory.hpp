// Resident memory of a program's processes over time, and its growth. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/program_clock.hpp"
#include "report/memory_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The processes with the most memory. `steady`: the steps, if any; `step_s`: length of a step, 0 without steps.
std::vector<HostMemory> host_memory(const HostSamples& samples, const ProgramClock& clock,
                                    const std::optional<Span>& steady, double step_s);

}  // namespace roofline
