// Kernels that map a matrix row by row, with outputs that depend on the whole row: common to layer norm, RMS norm
// and softmax. The row stays in registers of a group of threads (reduce.cuh), or is read again from memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/reduce.cuh"

namespace roofline {

/// One memory access: `kWidth` elements of T, which are 16 bytes, or a single one.
template <typename T, int kWidth>
struct Access {
  static_assert(kWidth == 1 || kWidth == kLanes<T>);
  using Raw = std::conditional_t<kWidth == 1, T, uint4>;

  /// Data that other blocks read too.
  static __device__ Raw load(const T* from) { return __ldg(reinterpret_cast<const Raw*>(from)); }
  /// Data that is read from memory once.
  static __device__ Raw load_once(const T* from) {
    if constexpr (kWidth == 1) {
      return __ldcs(from);
    } else {
      return load_streaming(reinterpret_cast<const uint4*>(from));
    }
  }

  static __device__ void store(T* to, const float (&values)[kWidth]) {
    if constexpr (kWidth == 1) {
      *to = narrow<T>(values[0]);
    } else {
      *reinterpret_cast<uint4*>(to) = narrow_vector<T>(values);
    }
  }

  static __device__ void widen_into(float (&values)[kWidth], Raw raw) {
    if constexpr (kWidth == 1) {
      values[0] = widen(raw);
    } else {
      widen_vector<T>(raw, values);
    }
  }
};

/// Distribution of a row over threads: each thread of a group has `kSteps` accesses of `kWidth` elements, a group
/// apart from each other, so that a warp's accesses are contiguous. Several blocks per row are a cluster (sm_90).
template <int kThreadsOfBlock, int kBlocksOfCluster, int kStepsOfThread, int kWidthOfAccess>
struct RowPlan {
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksOfCluster;
  static constexpr int kSteps = kStepsOfThread;
  static constexpr int kWidth = kWidthOfAccess;
  static constexpr int kGroup = kThreads * kBlocks;
  static constexpr int kColumns = kGroup * kSteps * kWidth;  ///< the longest row that it holds
  /// An SM has room for 32 blocks, so blocks of fewer than 64 threads would leave it half empty.
  static constexpr int kBlockSize = kThreads < 128 ? 128 : kThreads;
  using Reducer = GroupReducer<kThreads, kBlocks, kBlockSize>;
};

/// A thread's part of a row in its storage type: widening it for each use costs one instruction per element, but
/// registers limit how many rows are in flight. Rows start at multiples of an access.
template <typename T, typename RowPlan>
class RowTile {
 public:
  using Plan = RowPlan;
  static constexpr int kWidth = Plan::kWidth;

  __device__ RowTile(int columns, int lane) : columns_(columns), lane_(lane) {}

  int __device__ columns() const { return columns_; }

  /// All loads precede the first use: kSteps in flight.
  __device__ void load(const T* row) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (has(step)) raw_[step] = Load::load_once(row + column(step));
    }
  }

  /// f(value) for each of the thread's elements.
  template <typename F>
  __device__ void for_each(F f) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (!has(step)) continue;
      float values[kWidth];
      Load::widen_into(values, fresh(raw_[step]));
#pragma unroll
      for (const float value : values) f(value);
    }
  }

  /// Stores the result of `f(values of an access, its first column)`.
  template <typename F>
  __device__ void store(T* row, F f) {
#pragma unroll
    for (int step = 0; step < Plan::kSteps; ++step) {
      if (!has(step)) continue;
      float values[kWidth];
      Load::widen_into(values, fresh(raw_[step]));
      f(values, column(step));
      Load::store(row + column(step), values);
    }
  }

 private:
  using Load = Access<T, kWidth>;

  __device__ int column(int step) const { return (lane_ + step * Plan::kGroup) * kWidth; }
  __device__ bool has(int step) const { return column(step) < columns_; }

  /// Prevents the compiler from keeping the widened values of the previous use.
  static __device__ typename Load::Raw fresh(typename Load::Raw& raw) {
    if constexpr (kWidth > 1) asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w));
    return raw;
  }

  typename Load::Raw raw_[Plan::kSteps];
  int columns_;
  int lane_;  ///< of this thread in its group
};

/// y = f(x), row by row: each row is read once and stays in registers. `f(tile, row of x, reduce)` reads the tile's
/// values and returns what RowTile::store takes.
template <typename T, typename Plan, typename F>
__global__ void __launch_bounds__(Plan::kBlockSize)
    map_rows(F f, const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int columns) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * Plan::kBlockSize + threadIdx.x;
  // Groups past the last row compute it again and store nothing, because they take part in the barriers of the
  // others.
  const std::int64_t own = thread / Plan::kGroup;
  const std::int64_t row = min(own, rows - 1);
  typename Plan::Reducer reduce;
  RowTile<T, Plan> tile(columns, static_cast<int>(thread % Plan::kGroup));
  tile.load(x + row * columns);
  const auto output = f(tile, x + row * columns, reduce);
  if (own < rows) tile.store(y + row * columns, output);
}

/// A row that stays in memory: a block of `kThreads` threads reads it again for each use.
template <typename T, int kThreads, int kWidth>
class SweptRow {
 public:
  __device__ SweptRow(const T* row, std::int64_t columns) : row_(row), columns_(columns) {}

  /// f(value) for each of the thread's elements.
  template <typename F>
  __device__ void for_each(F f) const {
    sweep([&](float(&values)[kWidth], std::int64_t) {
      for (const float value : values) f(value);
    });
  }

  /// Stores the result of `f(values of an access, its first column)`.
  template <typename F>
  __device__ void store(T* row, F f) const {
    sweep([&](float(&values)[kWidth], std::int64_t column) {
      f(values, column);
      Load::store(row + column, values);
    });
  }

 private:
  using Load = Access<T, kWidth>;

  template <typename F>
  __device__ void sweep(F f) const {
    constexpr std::int64_t kStride = kThreads * kWidth;
#pragma unroll 2
    for (std::int64_t column = threadIdx.x * kWidth; column < columns_; column += kStride) {
      float values[kWidth];
      Load::widen_into(values, Load::load_once(row_ + column));
      f(values, column);
    }
  }

  const T* row_;
  std::int64_t columns_;
};

/// As map_rows, for rows of any length: one block per row, with one pass for each use in f, and one more.
template <typename T, int kThreads, int kWidth, typename F>
__global__ void __launch_bounds__(kThreads)
    sweep_rows(F f, const T* __restrict__ x, T* __restrict__ y, std::int64_t columns) {
  const T* row = x + blockIdx.x * columns;
  GroupReducer<kThreads> reduce;
  SweptRow<T, kThreads, kWidth> tile(row, columns);
  tile.store(y + blockIdx.x * columns, f(tile, row, reduce));
}

/// Parameters of a launch over rows.
struct Rows {
  cudaStream_t stream;
  std::int64_t rows;
  std::int64_t columns;
  bool clusters;  ///< whether the GPU has them
};

inline Rows rows_of(const CudaDevice& device, std::int64_t rows, std::int64_t columns) {
  return {device.stream(), rows, columns, device.properties().major >= 9};
}

template <typename T, typename Plan, typename F>
void launch_map_rows(const Rows& rows, F f, const T* x, T* y) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Plan::kBlocks, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(ceil_div(rows.rows * Plan::kGroup, Plan::kBlockSize));
  config.blockDim = Plan::kBlockSize;
  config.stream = rows.stream;
  config.attrs = &cluster;
  config.numAttrs = Plan::kBlocks > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, map_rows<T, Plan, F>, f, x, y, rows.rows, static_cast<int>(rows.columns)),
        "launching a kernel over rows");
}

/// Launches map_rows with the first plan that holds a row; false if none does.
template <typename T, typename... Plans, typename F>
bool launch_first_fit(const Rows& rows, F f, const T* x, T* y) {
  const auto fits = [&]<typename Plan>() {
    if (rows.columns > Plan::kColumns || (Plan::kBlocks > 1 && !rows.clusters)) return false;
    launch_map_rows<T, Plan>(rows, f, x, y);
    return true;
  };
  return (fits.template operator()<Plans>() || ...);
}

/// Launches map_rows; false if a row is too long: more than 64 KiB (512 KiB with clusters), or 16,384 elements
/// (131,072 with clusters) if rows are not 16-byte aligned. Small blocks are best, as in a plain copy (H200, rows
/// of 2 to 64 KiB: blocks twice as large are up to 3 % slower), and few accesses per thread, because the loads and
/// the stores of a block are one burst each. F::kSteps is the number of accesses: two, or more if a thread's
/// reductions cost as much as its elements. Groups grow first, then accesses, then blocks.
template <typename T, typename F>
bool launch_in_registers(const Rows& rows, F f, const T* x, T* y) {
  constexpr int kW = kLanes<T>;
  constexpr int kS = F::kSteps;
  if (rows.columns % kW != 0) {
    return launch_first_fit<T, RowPlan<32, 1, 16, 1>, RowPlan<128, 1, 8, 1>, RowPlan<128, 1, 16, 1>,
                            RowPlan<256, 1, 16, 1>, RowPlan<512, 1, 16, 1>, RowPlan<1024, 1, 16, 1>,
                            RowPlan<1024, 2, 16, 1>, RowPlan<1024, 4, 16, 1>, RowPlan<1024, 8, 16, 1>>(rows, f, x, y);
  }
  return launch_first_fit<T, RowPlan<32, 1, kS, kW>, RowPlan<64, 1, kS, kW>, RowPlan<128, 1, kS, kW>,
                          RowPlan<256, 1, kS, kW>, RowPlan<512, 1, kS, kW>, RowPlan<512, 1, 4, kW>,
                          RowPlan<512, 1, 8, kW>, RowPlan<512, 2, 8, kW>, RowPlan<512, 4, 8, kW>,
                          RowPlan<512, 8, 8, kW>>(rows, f, x, y);
}

/// Launches sweep_rows, with 16-byte accesses if `wide` and rows are aligned.
template <typename T, typename F>
void launch_sweeps(const Rows& rows, bool wide, F f, const T* x, T* y) {
  constexpr int kThreads = 512;
  const auto blocks = static_cast<unsigned>(rows.rows);
  if (wide && rows.columns % kLanes<T> == 0) {
    sweep_rows<T, kThreads, kLanes<T>><<<blocks, kThreads, 0, rows.stream>>>(f, x, y, rows.columns);
  } else {
    sweep_rows<T, kThreads, 1><<<blocks, kThreads, 0, rows.stream>>>(f, x, y, rows.columns);
  }
}

}  // namespace roofline
