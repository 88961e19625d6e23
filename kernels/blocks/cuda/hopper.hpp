// Tells if this GPU and this binary have the code of a kernel that needs newer instructions. Such kernels are compiled
// for every target, and are empty, fully or partly, for targets without these instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"

namespace roofline {

inline cudaFuncAttributes attributes_of(const void* kernel) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "querying a kernel's attributes");
  return attributes;
}

/// True if the code for this GPU has the body of a kernel that is empty for others.
inline bool has_body(const void* kernel) {
  constexpr int kMoreThanEmpty = 40;  // registers: the bodies need 50 to 232, an empty kernel fewer than ten
  return attributes_of(kernel).numRegs >= kMoreThanEmpty;
}

enum class Hopper : std::uint8_t {
  tma,    /// TMA and its barriers, which later GPUs have too
  wgmma,  /// wgmma, which only sm_90a code has
};

/// Why a kernel (a pointer to a __global__ function) that needs this, and that much shared memory per block, cannot
/// run on this GPU in this build; nothing if it can.
template <typename Kernel>
std::optional<std::string> hopper_missing(const Device& device, Hopper needed, Kernel* kernel,
                                          std::size_t shared_bytes = 0) {
  const CudaProperties& gpu = as_cuda(device).properties();
  const auto* code = reinterpret_cast<const void*>(kernel);
  if (needed == Hopper::wgmma) {
    if (gpu.major != 9) return "wgmma needs a Hopper GPU (compute capability 9.0)";
    if (!has_body(code)) return "this binary contains no sm_90a code: rebuild with sm_90a in -DROOFLINE_CUDA_GENCODE";
  } else if (attributes_of(code).binaryVersion < 90) {
    return "needs TMA: compute capability 9.0 and sm_90 code";
  }
  if (shared_bytes <= static_cast<std::size_t>(gpu.shared_bytes_per_block)) return std::nullopt;
  return "needs " + std::to_string(shared_bytes / 1024) + " KiB of shared memory per block";
}

}  // namespace roofline
