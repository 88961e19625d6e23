// Decode attention on a GPU.
//   naive  three kernels, the scores in memory (attention's, with one query per head)
//   fused  one block per head, online softmax
//   split  the context is split over blocks, the heads of a group together (split_simt.cuh)
//   mma    as split, on tensor cores, for groups whose arithmetic CUDA cores cannot hide (split_mma.cuh)
//   tma    as mma, with keys and values loaded by TMA into a ring in shared memory (split_tma.cuh)
#include <algorithm>
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/attention/grouped_heads.hpp"
#include "kernels/attention/naive.cuh"
#include "kernels/blocks/cuda/hopper.hpp"
#include "kernels/blocks/cuda/split_plan.cuh"
#include "kernels/decode/decode.hpp"
#include "kernels/decode/split_mma.cuh"
#include "kernels/decode/split_simt.cuh"
#include "kernels/decode/split_tma.cuh"
#include "op/registry.hpp"

namespace roofline::decode_cuda {
namespace {

/// Keys per scheduling unit: fewer than a block loads at once, so that the shares of the blocks are equal.
constexpr int kUnit = 16;
constexpr int kLeastUnits = 8;  /// per block; with fewer, the reduction takes longer than the attention

template <typename T>
struct Launch {
  void (*kernel)(const T*, const T*, const T*, T*, decode_split::Problem);
  int threads;
  int heads;       /// per block
  int shared = 0;  ///< bytes of dynamic shared memory
};

enum class Variant : std::uint8_t { fused, split, mma, tma };

/// Launch parameters of the CUDA-core kernel, for a head_dim up to kDim.
template <typename T, int kDim>
Launch<T> simt_launch(std::int64_t heads) {
  constexpr int kWidth = kDim / kLanes<T>;
  if (heads == 1) return {decode_simt::kernel<T, kWidth, 1>, decode_simt::kThreads, 1};
  if (heads == 2) return {decode_simt::kernel<T, kWidth, 2>, decode_simt::kThreads, 2};
  if (heads <= 4) return {decode_simt::kernel<T, kWidth, 4>, decode_simt::kThreads, 4};
  return {decode_simt::kernel<T, kWidth, 8>, decode_simt::kThreads, 8};
}

/// Launch parameters of the tensor-core kernels, with up to kTiles * 8 queries per block.
template <typename T, int kDim, int kTiles>
Launch<T> mma_launch(Variant variant) {
  if (variant == Variant::mma) return {decode_mma::kernel<T, kDim, kTiles>, decode_mma::kThreads, 8 * kTiles};
  const auto kernel = decode_tma::kernel<T, kDim, kTiles>;
  constexpr int kShared = sizeof(decode_tma::Shared<T, kDim, kTiles>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "setting the decode kernel's shared memory size");
  return {kernel, decode_tma::Roles<kTiles>::kThreads, 8 * kTiles, kShared};
}

template <typename T, int kDim>
Launch<T> launch_for(Variant variant, const Attended& e) {
  if constexpr (sizeof(T) == 2) {
    if (variant == Variant::mma || variant == Variant::tma) {
      return e.group <= 8 ? mma_launch<T, kDim, 1>(variant) : mma_launch<T, kDim, 2>(variant);
    }
  }
  return simt_launch<T, kDim>(variant == Variant::fused ? 1 : e.group);
}

Kernel prepare_split(const Workload& workload, Device& device, Variant variant) {
  const Attended e = decoded(workload);
  const CudaDevice& cuda = as_cuda(device);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const auto launch = e.d <= 64 ? launch_for<T, 64>(variant, e) : launch_for<T, 128>(variant, e);
    const std::int64_t slices = ceil_div(e.group, launch.heads);
    const std::int64_t tiles = e.kv_heads() * slices;
    const bool whole = variant == Variant::fused;  // one block per tile
    const std::int64_t blocks =
        whole ? tiles : blocks_per_wave(cuda, launch.kernel, launch.threads, static_cast<std::size_t>(launch.shared));
    const auto planned = make_split_plan(tiles, ceil_div(e.keys, kUnit), blocks, whole ? 1 : kLeastUnits,
                                         launch.heads * (e.d + 2), cuda.stream());
    const decode_split::Problem problem{.schedule = planned.plan.schedule,
                                        .keys_per_iteration = kUnit,
                                        .context = e.keys,
                                        .group = static_cast<int>(e.group),
                                        .slices = static_cast<int>(slices),
                                        .width = launch.heads,
                                        .head_dim = static_cast<int>(e.d),
                                        .scale_log2 = scale_log2(e),
                                        .parts = planned.plan.partials,
                                        .done = planned.plan.done};
    return [=, memory = planned.memory, stream = cuda.stream()](std::span<void* const> tensors) {
      static_cast<void>(memory);  // must live as long as this kernel
      launch.kernel<<<static_cast<unsigned>(problem.schedule.blocks), launch.threads, launch.shared, stream>>>(
          static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<const T*>(tensors[2]),
          static_cast<T*>(tensors[3]), problem);
      check_launch("decode kernel");
    };
  });
}

std::optional<std::string> split_unsupported(const Workload& workload, const Device&) {
  const Attended e = decoded(workload);
  if (auto reason = head_dim_unsupported(e, workload.dtype)) return reason;
  if (e.keys > INT_MAX / 2) return "the context exceeds the kernel's 32-bit indices";
  if (e.kv_heads() > INT_MAX / std::max<std::int64_t>(e.keys, 1))
    return "context times heads exceeds the kernel's 32-bit indices";
  if (e.heads > INT_MAX / 4096) return "exceeds the maximum grid size";
  return std::nullopt;
}

std::optional<std::string> tma_unsupported(const Workload& workload, const Device& device) {
  using Shared = decode_tma::Shared<__half, 128, 1>;
  if (auto missing = hopper_missing(device, Hopper::tma, decode_tma::kernel<__half, 128, 1>, sizeof(Shared))) {
    return missing;
  }
  return split_unsupported(workload, device);
}

const std::vector<DType> kTypes = {DType::fp32, DType::fp16, DType::bf16};

const ImplementationRegistrar kRegistrar(
    "decode",
    {attention_naive::implementation(decoded),
     {.name = "fused",
      .summary = "one block per head, 16-byte loads, online softmax in registers",
      .device = DeviceKind::cuda,
      .dtypes = kTypes,
      .unsupported = split_unsupported,
      .prepare = [](const Workload& w, Device& device) { return prepare_split(w, device, Variant::fused); }},
     {.name = "split",
      .summary = "split-KV: one wave of blocks with equal shares of all keys; loads shared by the heads of a group",
      .device = DeviceKind::cuda,
      .dtypes = kTypes,
      .unsupported = split_unsupported,
      .prepare = [](const Workload& w, Device& device) { return prepare_split(w, device, Variant::split); }},
     {.name = "mma",
      .summary = "split-KV on mma.sync; the heads of a group form one tile, operands loaded directly into fragments",
      .device = DeviceKind::cuda,
      .dtypes = {DType::fp16, DType::bf16},
      .unsupported = split_unsupported,
      .prepare = [](const Workload& w, Device& device) { return prepare_split(w, device, Variant::mma); }},
     {.name = "tma",
      .summary = "Hopper: as mma, with keys and values loaded by TMA into a shared-memory ring",
      .device = DeviceKind::cuda,
      .dtypes = {DType::fp16, DType::bf16},
      .unsupported = tma_unsupported,
      .prepare = [](const Workload& w, Device& device) { return prepare_split(w, device, Variant::tma); }}});

}  // namespace
}  // namespace roofline::decode_cuda
