// GEMM with few rows or columns of c, which is bound by reading the one large matrix: it is streamed once, by all SMs.
// fp32 on CUDA cores (skinny_simt.cuh), 16 bits on tensor cores (skinny_mma.cuh), where more count as few.
#include <algorithm>
#include <memory>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/gemm/gemm_rungs.hpp"
#include "kernels/gemm/skinny_mma.cuh"
#include "kernels/gemm/skinny_simt.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kLeastDepth = 256;  ///< of k in a stretch: with less, joining takes longer than adding

/// Rows or columns that count as few.
std::int64_t most_few(DType dtype) { return dtype == DType::fp32 ? 8 : 16; }

/// What a kernel needs besides its operands, for as long as it lives.
struct Workspace {
  DeviceMemory partial;
  DeviceMemory done;
};

template <typename Work>
Kernel prepare_work(const GemmProblem& problem, const CudaDevice& device) {
  using T = typename Work::T;
  int per_sm = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, skinny::kernel<Work>, skinny::kThreads, 0),
        "asking for the skinny kernel's occupancy");
  const std::int64_t tasks = ceil_div(Work::kFewRows ? problem.n : problem.m, Work::kStrip);
  const std::int64_t units = ceil_div(problem.k, Work::kUnit);
  const std::int64_t most = ceil_div(tasks * units * Work::kUnit, kLeastDepth);
  skinny::Plan plan{};
  plan.stretches = Stretches::cut(tasks, units, std::min(std::int64_t{per_sm} * device.properties().sm_count, most));
  const auto parts = static_cast<std::size_t>(tasks * plan.stretches.most_pieces() * Work::kResults);
  const auto counters = static_cast<std::size_t>(tasks) * sizeof(unsigned);
  auto workspace =
      std::make_shared<Workspace>(Workspace{make_device_memory(parts * sizeof(float)), make_device_memory(counters)});
  check(cudaMemsetAsync(workspace->done.get(), 0, counters, problem.stream), "clearing the skinny kernel's counters");
  plan.partial = static_cast<float*>(workspace->partial.get());
  plan.done = static_cast<unsigned*>(workspace->done.get());
  return [=](std::span<void* const> tensors) {
    static_cast<void>(workspace);  // lives as long as this kernel
    skinny::kernel<Work><<<static_cast<unsigned>(plan.stretches.blocks), skinny::kThreads, 0, problem.stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), problem,
        plan);
    check_launch("skinny gemm kernel");
  };
}

/// Whether b's rows start on 16 bytes and c has few: then b streams, else a.
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

// The kernels by the one number that counts: rows, columns, or tiles of eight of them.
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

Kernel prepare(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  const CudaDevice& cuda = as_cuda(device);
  const bool rows = streams_b(workload);
  const bool even = problem.k % 4 == 0;  // then four elements of a row of a are one load
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

std::optional<std::string> unsupported(const Workload& workload, const Device&) {
  const std::int64_t lanes = 16 / element_size(workload.dtype);
  const std::int64_t few = most_few(workload.dtype);
  if (streams_b(workload)) return std::nullopt;
  if (workload.shape["n"] <= few && workload.shape["k"] % lanes == 0) return std::nullopt;
  const std::string most = std::to_string(few);
  return "needs m <= " + most + " and rows of B that start on 16 bytes, or n <= " + most + " and such rows of A";
}

}  // namespace

Implementation gemm_skinny() {
  return {.name = "skinny",
          .summary = "for few rows or columns: streams the large matrix once, in one wave of equal shares",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported,
          .prepare = prepare};
}

}  // namespace roofline
