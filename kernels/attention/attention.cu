// Attention on a GPU, fused: o = softmax(q kᵀ / sqrt(d)) v without ever storing the scores.
//   flash  online softmax over tiles of keys; tensor cores for fp16 and bf16 (flash_tensor.cuh), CUDA cores
//          for fp32 (flash_simt.cuh)
#include <climits>
#include <cmath>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/attention/flash_simt.cuh"
#include "kernels/attention/flash_tensor.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

template <typename T>
using FlashKernel = void (*)(const T*, const T*, const T*, T*, AttentionProblem);

template <typename T>
struct Launch {
  FlashKernel<T> kernel;
  int queries;
  int threads;
  int shared_bytes;
};

/// A head_dim below the kernel's own is padded with zeros in shared memory.
template <typename T, int kDim>
Launch<T> launch_for() {
  if constexpr (sizeof(T) == 4) {
    return {flash_simt::kernel<kDim>, flash_simt::kQueries, flash_simt::kThreads,
            static_cast<int>(sizeof(flash_simt::Shared<kDim>))};
  } else {
    return {flash_tensor::kernel<T, kDim>, flash_tensor::kQueries, flash_tensor::kWarps * 32,
            static_cast<int>(2 * sizeof(flash_tensor::Stage<T, kDim>))};
  }
}

int shared_bytes(DType dtype, bool narrow_head) {
  return with_element_type(
      dtype, [&]<typename T>() { return (narrow_head ? launch_for<T, 64>() : launch_for<T, 128>()).shared_bytes; });
}

Kernel prepare(const Workload& workload, Device& device) {
  const Shape& shape = workload.shape;
  AttentionProblem problem{};
  problem.stream = as_cuda(device).stream();
  problem.heads = shape["batch"] * shape["heads"];
  problem.seq = static_cast<int>(shape["seq"]);
  problem.head_dim = static_cast<int>(shape["head_dim"]);
  problem.scale_log2 = static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(problem.head_dim)));
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const Launch<T> launch = problem.head_dim <= 64 ? launch_for<T, 64>() : launch_for<T, 128>();
    check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes),
          "giving the attention kernel its shared memory");
    const auto blocks = static_cast<unsigned>(problem.heads * ceil_div(problem.seq, launch.queries));
    return [problem, launch, blocks](std::span<void* const> tensors) {
      launch.kernel<<<blocks, launch.threads, launch.shared_bytes, problem.stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<const T*>(tensors[2]),
          static_cast<T*>(tensors[3]), problem);
      check_launch("attention kernel");
    };
  });
}

std::optional<std::string> unsupported(const Workload& workload, const Device& device) {
  const Shape& shape = workload.shape;
  const std::int64_t per_vector = 16 / element_size(workload.dtype);
  if (shape["head_dim"] > 128) return "needs head_dim <= 128";
  if (shape["head_dim"] % per_vector != 0)
    return "needs a head_dim that is a multiple of " + std::to_string(per_vector);
  if (shape["seq"] > INT_MAX / 2) return "seq is too long";
  if (shape["batch"] * shape["heads"] * ceil_div(shape["seq"], 128) > INT_MAX)
    return "needs more blocks than a grid has";
  const int needed = shared_bytes(workload.dtype, shape["head_dim"] <= 64);
  if (needed > as_cuda(device).properties().shared_bytes_per_block) {
    return "needs " + std::to_string(needed) + " bytes of shared memory a block";
  }
  return std::nullopt;
}

const ImplementationRegistrar kRegistrar("attention",
                                         {{.name = "flash",
                                           .summary = "fused, online softmax; tensor cores for fp16 and bf16",
                                           .device = DeviceKind::cuda,
                                           .dtypes = {DType::fp32, DType::fp16, DType::bf16},
                                           .unsupported = unsupported,
                                           .prepare = prepare}});

}  // namespace
}  // namespace roofline
