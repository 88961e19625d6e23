// The occupancy of a kernel in words: what fits an SM, and with what more would.
#pragma once

#include <string>

#include "model/counters.hpp"

namespace roofline {

/// "2 blocks of 512 threads fit on an SM, limited by registers: 50 % of its warps."
std::string resident_blocks_text(const KernelLaunch& kernel);

/// "at most 56 registers per thread (75 %), or blocks of 1,024 threads (100 %)": each change alone; empty if no change
/// is known to help.
std::string occupancy_changes_text(const KernelLaunch& kernel);

}  // namespace roofline
