// Why the counts of an emulated run do not cover the whole program, as text.
#pragma once

#include <cstdint>
#include <string>

#include "profile/cpu/counted_instructions.hpp"

namespace roofline {

/// Empty if every process was counted to its end. `native_signal` also ended the native run; 0: none.
std::string why_counts_end(const CountedInstructions& counted, std::int64_t native_signal);

}  // namespace roofline
