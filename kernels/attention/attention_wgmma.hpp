// What the files of the CUDA implementations of attention tell each other.
#pragma once

#include <optional>
#include <string>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/flash.cuh"
#include "op/op.hpp"

namespace roofline {

AttentionProblem attention_problem(const Workload& workload, Device& device);

/// Why none of the fused kernels computes this workload, on whatever GPU; nothing if they do.
std::optional<std::string> fused_unsupported(const Workload& workload);

/// The implementation for Hopper.
Implementation wgmma_attention();

}  // namespace roofline
