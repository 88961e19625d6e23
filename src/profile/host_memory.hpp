// Resident memory of a program's processes over time, and its growth. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/program_clock.hpp"
#include "report/memory_profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The steps of a program, and what was recorded in them.
struct SteadySpan {
  std::optional<Span> span = {};                     ///< std::nullopt: without steps, the whole recording
  double step_s = 0;                                 ///< length of a step; 0 without steps
  std::map<std::int64_t, std::int64_t> traced = {};  ///< kernels, copies and memsets in it, by process
};

/// The processes with the most memory. Growth that the records of the trace may take is none of the program.
std::vector<HostMemory> host_memory(const HostSamples& samples, const ProgramClock& clock, const SteadySpan& steady);

}  // namespace roofline
