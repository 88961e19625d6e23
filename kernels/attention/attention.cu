// Attention on a GPU: o = softmax(q kᵀ / sqrt(d)) v per head.
//   naive  three kernels, the matrix of scores in memory (naive.cuh)
//   fused  one kernel on CUDA cores, online softmax over tiles of keys (flash_simt.cuh)
//   mma    as fused, on tensor cores (flash_tensor.cuh)
//   wgmma  Hopper: TMA, warp-specialised warpgroups (attention_wgmma.cu)
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/attention/attention_wgmma.hpp"
#include "kernels/attention/flash_simt.cuh"
#include "kernels/attention/flash_tensor.cuh"
#include "kernels/attention/grouped_heads.hpp"
#include "kernels/attention/naive.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// The scores are written, read and rewritten as weights, and read. Masked scores are not accessed.
Traffic naive_extra(const Workload& workload) {
  const double bytes = attended(workload).scores() * sizeof(float);
  return {.read = 2 * bytes, .write = 2 * bytes};
}

template <typename T>
struct Launch {
  void (*kernel)(const T*, const T*, const T*, T*, AttentionProblem);
  int queries;
  int threads;
  int shared_bytes;
};

/// A head_dim below the kernel's is zero-padded in shared memory.
template <typename T, int kDim>
struct Fused {
  static Launch<T> launch() {
    return {flash_simt::kernel<T, kDim>, flash_simt::kQueries, flash_simt::kThreads,
            static_cast<int>(sizeof(flash_simt::Shared<kDim>))};
  }
};
template <typename T, int kDim>
struct Mma {
  static Launch<T> launch() {
    if constexpr (sizeof(T) == 2) {
      return {flash_tensor::kernel<T, kDim>, flash_tensor::kQueries, flash_tensor::kWarps * 32,
              static_cast<int>(2 * sizeof(flash_tensor::Stage<T, kDim>))};
    } else {
      throw Error("tensor cores do not support fp32");
    }
  }
};

template <template <typename, int> typename Variant, typename T>
Launch<T> launch_for(std::int64_t head_dim) {
  return head_dim <= 64 ? Variant<T, 64>::launch() : Variant<T, 128>::launch();
}

template <template <typename, int> typename Variant>
Kernel prepare_flash(const Workload& workload, Device& device) {
  const AttentionProblem problem = attention_problem(workload, device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const auto launch = launch_for<Variant, T>(problem.head_dim);
    check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes),
          "setting the attention kernel's shared memory size");
    const auto blocks = static_cast<unsigned>(problem.heads * ceil_div(problem.seq, launch.queries));
    return [problem, launch, blocks](std::span<void* const> tensors) {
      launch.kernel<<<blocks, launch.threads, launch.shared_bytes, problem.stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<const T*>(tensors[2]),
          static_cast<T*>(tensors[3]), problem);
      check_launch("attention kernel");
    };
  });
}

template <template <typename, int> typename Variant>
std::optional<std::string> unsupported_flash(const Workload& workload, const Device& device) {
  if (auto reason = fused_unsupported(workload)) return reason;
  return with_element_type(workload.dtype, [&]<typename T>() -> std::optional<std::string> {
    const int needed = launch_for<Variant, T>(attended(workload).d).shared_bytes;
    if (needed <= as_cuda(device).properties().shared_bytes_per_block) return std::nullopt;
    return "needs " + std::to_string(needed) + " bytes of shared memory per block";
  });
}

const ImplementationRegistrar kRegistrar(
    "attention", {attention_naive::implementation(attended, naive_extra),
                  {.name = "fused",
                   .summary = "one fused kernel on CUDA cores, online softmax; scores stay on chip",
                   .device = DeviceKind::cuda,
                   .dtypes = {DType::fp32, DType::fp16, DType::bf16},
                   .unsupported = unsupported_flash<Fused>,
                   .prepare = prepare_flash<Fused>},
                  {.name = "mma",
                   .summary = "fused, both products on tensor cores (mma.sync), scores stay in registers",
                   .device = DeviceKind::cuda,
                   .dtypes = {DType::fp16, DType::bf16},
                   .unsupported = unsupported_flash<Mma>,
                   .prepare = prepare_flash<Mma>},
                  wgmma_attention()});

}  // namespace

AttentionProblem attention_problem(const Workload& workload, Device& device) {
  const Attended a = attended(workload);
  return {.stream = as_cuda(device).stream(),
          .heads = a.heads,
          .group = static_cast<int>(a.group),
          .seq = static_cast<int>(a.keys),
          .head_dim = static_cast<int>(a.d),
          .causal = a.causal,
          .scale_log2 = scale_log2(a)};
}

std::optional<std::string> fused_unsupported(const Workload& workload) {
  const Attended a = attended(workload);
  if (auto reason = head_dim_unsupported(a, workload.dtype)) return reason;
  if (a.keys > INT_MAX / 2) return "seq is too long";
  if (a.heads * ceil_div(a.keys, 128) > INT_MAX) return "exceeds the maximum grid size";
  return std::nullopt;
}

}  // namespace roofline
