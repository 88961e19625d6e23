// GEMM with few rows or columns of c, limited by reading the one large matrix, which is streamed once by all SMs.
//   skinny      fp32 on CUDA cores (skinny_simt.cuh), 16-bit types on tensor cores (skinny_mma.cuh)
//   skinny_tma  16-bit types, matrices loaded by TMA into a ring in shared memory (skinny_tma.cuh)
#include <algorithm>
#include <array>
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/tensor_map.hpp"
#include "kernels/blocks/cuda/hopper.hpp"
#include "kernels/gemm/gemm_implementations.hpp"
#include "kernels/gemm/skinny_mma.cuh"
#include "kernels/gemm/skinny_simt.cuh"
#include "kernels/gemm/skinny_tma.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kLeastDepth = 256;  /// of k per block; with less, the reduction takes longer than the products

/// Maximum number of rows or columns for these kernels.
std::int64_t most_few(DType dtype) { return dtype == DType::fp32 ? 8 : 16; }

template <typename Work>
OwnedSplitPlan plan_for(const GemmProblem& problem, std::int64_t blocks) {
  static_assert(kLeastDepth % Work::kUnit == 0);
  const std::int64_t tiles = ceil_div(Work::kFewRows ? problem.n : problem.m, Work::kStrip);
  return make_split_plan(tiles, ceil_div(problem.k, Work::kUnit), blocks, kLeastDepth / Work::kUnit, Work::kResults,
                         problem.stream);
}

template <typename Work>
Kernel prepare_work(const GemmProblem& problem, const CudaDevice& device) {
  using T = typename Work::T;
  const auto planned = plan_for<Work>(problem, blocks_per_wave(device, skinny::kernel<Work>, skinny::kThreads));
  return [=, plan = planned.plan, memory = planned.memory](std::span<void* const> tensors) {
    static_cast<void>(memory);  // must live as long as this kernel
    skinny::kernel<Work><<<static_cast<unsigned>(plan.schedule.blocks), skinny::kThreads, 0, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem,
        plan);
    check_launch("skinny gemm kernel");
  };
}

/// True if b's rows are 16-byte aligned and c has few rows: then b streams, otherwise a.
bool streams_b(const Workload& workload) {
  const std::int64_t lanes = 16 / element_size(workload.dtype);
  return workload.shape["m"] <= most_few(workload.dtype) && workload.shape["n"] % lanes == 0;
}

template <template <int> typename Work>
Kernel prepare_simt(std::int64_t few, const GemmProblem& problem, const CudaDevice& device) {
  if (few == 1) return prepare_work<Work<1>>(problem, device);
  if (few <= 4) return prepare_work<Work<4>>(problem, device);
  return prepare_work<Work<8>>(problem, device);
}

template <template <int> typename Work>
Kernel prepare_mma(std::int64_t few, const GemmProblem& problem, const CudaDevice& device) {
  return few <= 8 ? prepare_work<Work<1>>(problem, device) : prepare_work<Work<2>>(problem, device);
}

// Kernels by the relevant extent: rows, columns, or tiles of eight of them.
template <int kFew>
using SimtRows = skinny_simt::FewRows<kFew, true>;
template <int kFew>
using SimtRowsOdd = skinny_simt::FewRows<kFew, false>;
template <int kFew>
using SimtColumns = skinny_simt::FewColumns<float, kFew>;
template <typename T>
struct Mma {
  template <int kTiles>
  using Rows = skinny_mma::FewRows<T, kTiles, true>;
  template <int kTiles>
  using RowsOdd = skinny_mma::FewRows<T, kTiles, false>;
  template <int kTiles>
  using Columns = skinny_mma::FewColumns<T, kTiles>;
};

Kernel prepare_skinny(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  const CudaDevice& cuda = as_cuda(device);
  const bool rows = streams_b(workload);
  const bool even = problem.k % 4 == 0;  // four elements of a row of a are then one load
  const std::int64_t few = rows ? problem.m : problem.n;
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    if constexpr (sizeof(T) == 4) {
      if (!rows) return prepare_simt<SimtColumns>(few, problem, cuda);
      return even ? prepare_simt<SimtRows>(few, problem, cuda) : prepare_simt<SimtRowsOdd>(few, problem, cuda);
    } else {
      if (!rows && few == 1) return prepare_work<skinny_simt::FewColumns<T, 1>>(problem, cuda);
      if (!rows) return prepare_mma<Mma<T>::template Columns>(few, problem, cuda);
      return even ? prepare_mma<Mma<T>::template Rows>(few, problem, cuda)
                  : prepare_mma<Mma<T>::template RowsOdd>(few, problem, cuda);
    }
  });
}

/// Tensor maps of one kernel, for operands at `a` and `b`.
template <typename Work>
skinny_tma::Maps make_maps(const GemmProblem& problem, DType dtype, const void* a, const void* b) {
  const std::array of_a{problem.k, problem.m}, of_b{problem.n, problem.k};
  const std::array stride_a{problem.k}, stride_b{problem.n};
  if constexpr (Work::kFewRows) {
    const std::array large{64, Work::kUnit}, few{Work::kStageRows, static_cast<int>(problem.m)};
    return {.large = make_tensor_map(b, dtype, of_b, stride_b, large, TileLayout::swizzle_128, L2Fetch::bytes_128),
            .few = make_tensor_map(a, dtype, of_a, stride_a, few, TileLayout::plain)};
  } else {
    const std::array large{Work::kUnit, Work::kStrip}, few{Work::kBox, Work::kUnit};
    const CUtensorMap map =
        make_tensor_map(a, dtype, of_a, stride_a, large, TileLayout::swizzle_128, L2Fetch::bytes_128);
    if (Work::kBox > 1) return {map, make_tensor_map(b, dtype, of_b, stride_b, few, TileLayout::plain)};
    // A single column has the layout of a row.
    const std::array row{problem.k, std::int64_t{1}};
    const std::array box{Work::kUnit, 1};
    return {map, make_tensor_map(b, dtype, row, stride_a, box, TileLayout::plain)};
  }
}

template <typename Work>
Kernel prepare_tma_work(const GemmProblem& problem, DType dtype, const CudaDevice& device) {
  constexpr auto kKernel = skinny_tma::kernel<Work>;
  constexpr std::size_t kShared = sizeof(skinny_tma::Shared<Work>);
  check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kShared)),
        "setting the skinny kernel's shared memory size");
  const auto planned = plan_for<Work>(problem, device.properties().sm_count);
  return [=, plan = planned.plan, memory = planned.memory](std::span<void* const> tensors) {
    static_cast<void>(memory);  // must live as long as this kernel
    const skinny_tma::Maps maps = make_maps<Work>(problem, dtype, tensors[0], tensors[1]);
    kKernel<<<static_cast<unsigned>(plan.schedule.blocks), skinny_tma::Roles::kThreads, kShared, problem.stream>>>(
        maps, static_cast<typename Work::T*>(tensors[2]), problem, plan);
    check_launch("skinny gemm kernel (tma)");
  };
}

Kernel prepare_tma(const Workload& workload, Device& device) {
  using skinny_tma::FewColumns;
  using skinny_tma::FewRows;
  const GemmProblem problem = gemm_problem(workload, device);
  const auto prepare_as = [&]<typename Work>() {
    return prepare_tma_work<Work>(problem, workload.dtype, as_cuda(device));
  };
  const auto prepare_for = [&]<typename T>() -> Kernel {
    if (streams_b(workload)) {
      return problem.m <= 8 ? prepare_as.template operator()<FewRows<T, 1>>()
                            : prepare_as.template operator()<FewRows<T, 2>>();
    }
    if (problem.n == 1) return prepare_as.template operator()<FewColumns<T, 1, true>>();
    return problem.n <= 8 ? prepare_as.template operator()<FewColumns<T, 1, false>>()
                          : prepare_as.template operator()<FewColumns<T, 2, false>>();
  };
  return workload.dtype == DType::fp16 ? prepare_for.template operator()<__half>()
                                       : prepare_for.template operator()<__nv_bfloat16>();
}

std::optional<std::string> unsupported_skinny(const Workload& workload, const Device&) {
  const std::int64_t lanes = 16 / element_size(workload.dtype);
  const std::int64_t few = most_few(workload.dtype);
  if (streams_b(workload)) return std::nullopt;
  if (workload.shape["n"] <= few && workload.shape["k"] % lanes == 0) return std::nullopt;
  const std::string most = std::to_string(few);
  return "needs m <= " + most + " and 16-byte aligned rows of B, or n <= " + most + " and 16-byte aligned rows of A";
}

std::optional<std::string> unsupported_skinny_tma(const Workload& workload, const Device& device) {
  using Work = skinny_tma::FewRows<__half, 1>;
  if (auto missing = hopper_missing(device, Hopper::tma, skinny_tma::kernel<Work>, sizeof(skinny_tma::Shared<Work>))) {
    return missing;
  }
  const std::int64_t m = workload.shape["m"], n = workload.shape["n"], k = workload.shape["k"];
  if (k % 8 != 0 || (n % 8 != 0 && n != 1)) {
    return "needs k in multiples of 8, and n in multiples of 8 or n = 1 (TMA needs 16-byte rows)";
  }
  if (std::max({m, n, k}) > INT_MAX / 2) return "the matrix exceeds TMA's 32-bit extents";
  return unsupported_skinny(workload, device);
}

}  // namespace

Implementation gemm_skinny() {
  return {.name = "skinny",
          .summary = "for few rows or columns: stream-K, the large matrix is read once in one wave",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported_skinny,
          .prepare = prepare_skinny};
}

Implementation gemm_skinny_tma() {
  return {.name = "skinny_tma",
          .summary = "Hopper: skinny on mma.sync, fed by TMA through a shared-memory ring",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp16, DType::bf16},
          .unsupported = unsupported_skinny_tma,
          .prepare = prepare_tma};
}

}  // namespace roofline
