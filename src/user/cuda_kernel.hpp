// The CUDA part of a user's kernel.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "op/op.hpp"
#include "user/binding.hpp"

namespace roofline {

/// Why this device can't launch it ("needs 1200 threads a block, and has 1024"), or std::nullopt.
std::optional<std::string> cuda_refusal(const BoundKernel& kernel, const Device& device);

/// Loads the code and makes the launches ready; `names` are those of the steps' kernels in it. Throws Error for a
/// kernel that is not there and for arguments that it doesn't take.
Kernel load_cuda_kernel(const BoundKernel& kernel, const std::filesystem::path& code,
                        const std::vector<std::string>& names, Device& device);

}  // namespace roofline
