// Shared declarations of the CUDA implementations of attention.
#pragma once

#include <optional>
#include <string>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/flash.cuh"
#include "op/op.hpp"

namespace roofline {

AttentionProblem attention_problem(const Workload& workload, Device& device);

/// Why no fused kernel supports this workload on any GPU; std::nullopt if one does.
std::optional<std::string> fused_unsupported(const Workload& workload);

/// The implementation for Hopper.
Implementation wgmma_attention();

}  // namespace roofline
