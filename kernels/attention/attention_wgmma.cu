// Attention on Hopper's tensor cores (flash_wgmma.cuh): tilings, tensor maps and the launch.
#include <algorithm>
#include <array>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/tensor_map.hpp"
#include "kernels/attention/attention_wgmma.hpp"
#include "kernels/attention/flash_wgmma.cuh"
#include "kernels/blocks/cuda/hopper.hpp"

namespace roofline {
namespace {

/// The fastest tilings on an H200, equal to cuDNN or faster. For head_dim 64, two consumer warpgroups leave the
/// tensor cores idle (423 TFLOP/s, 535 with three). For 128, tiles of 176 keys are 2 to 3 % faster than 128 with
/// many keys, and up to 7 % slower with few, because more of the last tile is wasted.
template <typename T>
using Narrow = flash_wgmma::Tiling<T, 64, 3, 128>;
template <typename T>
using Short = flash_wgmma::Tiling<T, 128, 2, 128>;
template <typename T>
using Long = flash_wgmma::Tiling<T, 128, 2, 176>;
constexpr std::int64_t kManyKeys = 8192;

CUtensorMap head_map(const void* tensor, DType dtype, std::int64_t heads, const AttentionProblem& problem, int rows) {
  const std::array<std::int64_t, 3> extents = {problem.head_dim, problem.seq, heads};
  const std::array<std::int64_t, 2> strides = {problem.head_dim, std::int64_t{problem.head_dim} * problem.seq};
  return make_tensor_map(tensor, dtype, extents, strides, std::array{flash_wgmma::kSpan, rows, 1});
}

/// Half of an H200's L2 for the active keys and values: blocks progress at different rates and need the other half,
/// and both partitions of the L2 keep copies.
flash_wgmma::Schedule schedule_of(const AttentionProblem& problem, int queries, double l2_bytes, unsigned* counters) {
  const double bytes = 2.0 * 2 * problem.seq * problem.head_dim / problem.group;  // keys and values, two bytes each
  const auto query_tiles = static_cast<int>(ceil_div(problem.seq, queries));
  return {.counters = counters,
          .query_tiles = query_tiles,
          .section_heads = static_cast<int>(std::clamp(l2_bytes / 2 / bytes, 1.0, static_cast<double>(problem.heads))),
          .tiles = static_cast<int>(problem.heads) * query_tiles};
}

template <typename Tiling>
Kernel prepare_tiles(const Workload& workload, CudaDevice& device) {
  using T = typename Tiling::T;
  constexpr int kShared = sizeof(flash_wgmma::Shared<Tiling>);
  const auto kernel = flash_wgmma::kernel<Tiling>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "setting the attention kernel's shared memory size");
  const AttentionProblem problem = attention_problem(workload, device);
  auto counters = std::make_shared<DeviceMemory>(make_device_memory(2 * sizeof(unsigned)));
  check(cudaMemsetAsync(counters->get(), 0, 2 * sizeof(unsigned), problem.stream),
        "clearing the attention kernel's counters");
  const auto schedule =
      schedule_of(problem, Tiling::kQueries, device.properties().l2_bytes, static_cast<unsigned*>(counters->get()));
  const int blocks = std::min(device.properties().sm_count, schedule.tiles);
  return [=, dtype = workload.dtype](std::span<void* const> tensors) {
    const std::int64_t kv_heads = problem.heads / problem.group;
    const flash_wgmma::Maps maps = {.q = head_map(tensors[0], dtype, problem.heads, problem, Tiling::kQueries),
                                    .k = head_map(tensors[1], dtype, kv_heads, problem, Tiling::kKeys),
                                    .v = head_map(tensors[2], dtype, kv_heads, problem, Tiling::kKeys)};
    static_cast<void>(counters);  // must live as long as this kernel
    kernel<<<blocks, Tiling::kThreads, kShared, problem.stream>>>(maps, static_cast<T*>(tensors[3]), problem, schedule);
    check_launch("attention kernel (wgmma)");
  };
}

template <typename T>
Kernel prepare_for(const Workload& workload, CudaDevice& device) {
  if (attended(workload).d <= 64) return prepare_tiles<Narrow<T>>(workload, device);
  return attended(workload).keys < kManyKeys ? prepare_tiles<Short<T>>(workload, device)
                                             : prepare_tiles<Long<T>>(workload, device);
}

std::optional<std::string> unsupported_attention_wgmma(const Workload& workload, const Device& device) {
  if (auto missing = hopper_missing(device, Hopper::wgmma, flash_wgmma::kernel<Narrow<__half>>)) return missing;
  return fused_unsupported(workload);
}

}  // namespace

Implementation wgmma_attention() {
  return {.name = "wgmma",
          .summary = "Hopper: TMA loads, wgmma; ping-pong warpgroups overlap softmax with MMAs",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp16, DType::bf16},
          .unsupported = unsupported_attention_wgmma,
          .prepare = [](const Workload& workload, Device& device) {
            return workload.dtype == DType::fp16 ? prepare_for<__half>(workload, as_cuda(device))
                                                 : prepare_for<__nv_bfloat16>(workload, as_cuda(device));
          }};
}

}  // namespace roofline
