// Finds the machine code of a kernel in the running program, as the driver loads it. device/cubin.hpp counts
// instructions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roofline {

/// Number of occurrences of an instruction in a kernel.
struct InstructionCount {
  std::string where;         ///< "fma_kernel<float, 8>(…) for sm_90"; or why the code could not be looked at
  std::optional<int> count;  ///< std::nullopt when it could not
};

/// Looks for an instruction in the code of `kernel` (a __global__ function) that runs on the current device.
/// Never throws for what it can't see: code that the driver compiled from PTX, compressed images, an unknown
/// architecture. Throws Error for an instruction that device/cubin.hpp doesn't know.
InstructionCount find_instruction(const void* kernel, std::string_view instruction);

}  // namespace roofline
