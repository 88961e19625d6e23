// What ops and probes that need several GPUs have in common. No CUDA header here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace roofline {

/// Why so many ranks can't work together by NCCL, or nothing.
std::optional<std::string> ranks_unsupported(std::int64_t ranks, const Device& device);

}  // namespace roofline
