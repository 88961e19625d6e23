// Copy on the CPU: declarations of the vector kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Copies `bytes` from x to y with non-temporal stores.
template <Isa isa>
void copy_streamed(const std::byte* x, std::byte* y, std::int64_t bytes);

}  // namespace roofline
