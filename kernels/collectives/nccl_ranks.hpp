// Common to ops and probes that need several GPUs. No CUDA header here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/device.hpp"

namespace roofline {

/// Why that many ranks cannot run an NCCL collective here, or std::nullopt.
std::optional<std::string> ranks_unsupported(std::int64_t ranks, const Device& device);

}  // namespace roofline
