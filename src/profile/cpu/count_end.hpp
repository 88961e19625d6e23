// Why the counts of an emulated run are not those of the whole program, as a person reads it.
#pragma once

#include <cstdint>
#include <string>

#include "profile/cpu/counted_instructions.hpp"

namespace roofline {

/// Empty: every process was counted to its end. `native_signal` ended the program in its native run, too; 0: none did.
std::string why_counts_end(const CountedInstructions& counted, std::int64_t native_signal);

}  // namespace roofline
