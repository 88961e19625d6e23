// Loads of a loop whose addresses depend on data that the loop loads: gathers and linked nodes. From machine code.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/cpu/probe_loops.hpp"

namespace roofline {

enum class LoadAddress : std::uint8_t {
  direct,  ///< no load, or one whose address doesn't depend on data: a counter, a pointer that steps
  data,    ///< computed from values that the loop loads
  linked,  ///< the base is loaded through itself in each iteration: node = node->next
};

/// One per instruction. Follows values through registers along the jumps of the loop, not through memory: what is
/// loaded from the stack, or from an address that is the same in each iteration, is no data.
std::vector<LoadAddress> load_addresses(std::span<const CodeInstruction> loop);

}  // namespace roofline
