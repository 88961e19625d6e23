// Convolution as an implicit matrix product: output[pixels, filters] = windows[pixels, depth] · filters[filters,
// depth], where the matrix of windows is never stored. A block computes 128 pixels x 128 filters and iterates over
// the depth in stages of 64 bytes; copies into a ring of four stages (cp.async, sm_80) read zeros in the padding.
// Both operands run along the depth in memory and in shared memory. A warp computes 64 x 64: fp32 on CUDA cores, 16
// x 8 per thread, 16-bit types by mma.sync.
#include <algorithm>
#include <climits>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/conv2d/conv2d.hpp"
#include "kernels/conv2d/conv2d_implementations.hpp"

namespace roofline {
namespace {

constexpr int kTile = 128;
constexpr int kChunks = 4;  ///< of 16 bytes: the depth of a stage
constexpr int kStages = 4;
constexpr int kThreads = 128;  ///< four warps, each with a quarter of the tile
constexpr int kWarpTile = kTile / 2;
constexpr int kRowsApart = kThreads / kChunks;  /// a thread copies the same chunk of rows at this distance
constexpr int kCopies = kTile / kRowsApart;

/// 128 rows of 64 bytes. Chunks are swizzled so that one chunk of eight consecutive rows, the unit of a read, is in
/// eight different groups of banks; the same chunk of the eighth row further is kEightRows on.
struct Tile {
  static constexpr int kEightRows = 8 * kChunks;
  uint4 chunks[kTile * kChunks];

  __device__ uint4* at(int row, int chunk) { return chunks + row * kChunks + (chunk ^ (row / 2 % 4)); }
};

struct Stage {
  Tile windows;
  Tile filters;
};

/// ConvSize in 32 bits: registers are scarce, and divisions in 64 bits expensive.
struct Extents {
  int height, width, channels, filters, kernel, padding, rows, columns, pixels, depth;
};

Extents extents_of(const ConvSize& size) {
  return {.height = static_cast<int>(size.height),
          .width = static_cast<int>(size.width),
          .channels = static_cast<int>(size.channels),
          .filters = static_cast<int>(size.filters),
          .kernel = static_cast<int>(size.kernel),
          .padding = static_cast<int>(size.padding),
          .rows = static_cast<int>(size.rows),
          .columns = static_cast<int>(size.columns),
          .pixels = static_cast<int>(size.pixels),
          .depth = static_cast<int>(size.depth)};
}

/// A position along the depth: a channel of a tap. Past the end `row` is the kernel's.
struct Tap {
  int row = 0;
  int column = 0;
  int channel = 0;

  __device__ void advance(int units, const Extents& size) {
    channel += units;
    while (channel >= size.channels) {
      channel -= size.channels;
      if (++column == size.kernel) {
        column = 0;
        ++row;
      }
    }
  }
};

/// The window of one output pixel; empty if `pixel` is past the last.
struct Window {
  unsigned first = 0;  ///< where tap (0, 0) would begin: may lie before the input, and wrap around
  int top = 0;
  int left = 0;

  Window() = default;
  __device__ Window(const Extents& size, int pixel) {
    const int image = pixel / (size.rows * size.columns);
    top = pixel / size.columns - image * size.rows - size.padding;
    left = pixel % size.columns - size.padding;
    first = (static_cast<unsigned>(image * size.height + top) * size.width + left) * size.channels;
    if (pixel >= size.pixels) top = INT_MIN / 2;
  }
  __device__ bool sees(const Extents& size, const Tap& tap) const {
    return static_cast<unsigned>(top + tap.row) < static_cast<unsigned>(size.height) &&
           static_cast<unsigned>(left + tap.column) < static_cast<unsigned>(size.width) && tap.row < size.kernel;
  }
  __device__ unsigned at(const Extents& size, const Tap& tap) const {
    return first + (static_cast<unsigned>(tap.row) * size.width + tap.column) * size.channels + tap.channel;
  }
};

/// What one thread copies into each stage, in order: a chunk of some windows and of some filters. Channels and
/// depth are counted in `Unit`s: chunks if channels fill them; otherwise elements, from which chunks are assembled.
template <typename Unit>
class Copier {
 public:
  __device__ Copier(const void* input, const void* filters, const Extents& size, int pixel, int filter)
      : input_(static_cast<const Unit*>(input)), filters_(static_cast<const Unit*>(filters)) {
    const int row = static_cast<int>(threadIdx.x) / kChunks;
    depth_ = static_cast<int>(threadIdx.x) % kChunks * kUnits;
    filter_ = filter + row;
    tap_.advance(depth_, size);
#pragma unroll
    for (int i = 0; i < kCopies; ++i) windows_[i] = Window(size, pixel + row + i * kRowsApart);
  }

  /// Starts the copies of the next stage; zeros past the end of the depth.
  __device__ void start(Stage& stage, const Extents& size) {
    const int row = static_cast<int>(threadIdx.x) / kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % kChunks;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      copy_window(stage.windows.at(row + i * kRowsApart, chunk), windows_[i], size);
      copy_filter(stage.filters.at(row + i * kRowsApart, chunk), filter_ + i * kRowsApart, size);
    }
    depth_ += kChunks * kUnits;
    tap_.advance(kChunks * kUnits, size);
  }

 private:
  static constexpr int kUnits = 16 / static_cast<int>(sizeof(Unit));  ///< in a chunk

  __device__ void copy_window(uint4* to, const Window& window, const Extents& size) const {
    if constexpr (kUnits == 1) {
      const bool seen = window.sees(size, tap_);
      mma::copy_async(to, seen ? input_ + window.at(size, tap_) : input_, seen);
    } else {
      Tap tap = tap_;
      for (int i = 0; i < kUnits; ++i, tap.advance(1, size)) {
        reinterpret_cast<Unit*>(to)[i] = window.sees(size, tap) ? input_[window.at(size, tap)] : Unit{};
      }
    }
  }
  __device__ void copy_filter(uint4* to, int filter, const Extents& size) const {
    const unsigned from = static_cast<unsigned>(filter) * size.depth + depth_;
    if constexpr (kUnits == 1) {
      const bool there = filter < size.filters && depth_ < size.depth;
      mma::copy_async(to, there ? filters_ + from : filters_, there);
    } else {
      for (int i = 0; i < kUnits; ++i) {
        const bool there = filter < size.filters && depth_ + i < size.depth;
        reinterpret_cast<Unit*>(to)[i] = there ? filters_[from + i] : Unit{};
      }
    }
  }

  const Unit* input_;
  const Unit* filters_;
  int depth_;
  int filter_;
  Tap tap_;
  Window windows_[kCopies];
};

/// One thread's part of a warp's 64 x 64 accumulators. `multiply` adds the products of a stage for the warp's first
/// `pixel` and `filter`; `store` calls put(pixel, filter, sum), or with two adjacent sums.
template <typename T>
struct Sums;

/// CUDA cores: a thread has every fourth pixel and every eighth filter.
template <>
struct Sums<float> {
  float values[16][8] = {};

  // Lanes that read the same chunk differ in bit 0, or 1, of their index: such 16-byte reads are merged.
  static __device__ int row() {
    return static_cast<int>(threadIdx.x) % 2 + static_cast<int>(threadIdx.x) % 32 / 16 * 2;
  }
  static __device__ int column() { return static_cast<int>(threadIdx.x) / 2 % 8; }

  __device__ void multiply(Stage& stage, int pixel, int filter) {
#pragma unroll 2  // all four at once, it reads too far ahead, and spills
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const auto* b_rows = reinterpret_cast<const float4*>(stage.filters.at(filter + column(), chunk));
      const float4* a_rows[2] = {reinterpret_cast<const float4*>(stage.windows.at(pixel + row(), chunk)),
                                 reinterpret_cast<const float4*>(stage.windows.at(pixel + row() + 4, chunk))};
      float4 b[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) b[j] = b_rows[j * Tile::kEightRows];
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float4 a = a_rows[i % 2][i / 2 * Tile::kEightRows];
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          float& sum = values[i][j];
          sum = fmaf(a.w, b[j].w, fmaf(a.z, b[j].z, fmaf(a.y, b[j].y, fmaf(a.x, b[j].x, sum))));
        }
      }
    }
  }

  template <typename Put>
  __device__ void store(Put put) const {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) put(row() + i * 4, column() + j * 8, values[i][j]);
    }
  }
};

/// Tensor cores: 4 x 8 results of one instruction.
template <typename T>
struct TensorSums {
  float values[4][8][4] = {};

  __device__ void multiply(Stage& stage, int pixel, int filter) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; chunk += 2) {
      // Windows 16 rows at a time; filters both halves of the depth for eight, then for the next eight.
      const uint4* a_rows = stage.windows.at(pixel + lane % 16, chunk + lane / 16);
      const uint4* b_rows = stage.filters.at(filter + lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2);
      std::uint32_t a[4][4];
      std::uint32_t b[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) mma::read_matrices<false>(a[i], a_rows + i * 2 * Tile::kEightRows);
#pragma unroll
      for (int j = 0; j < 4; ++j) mma::read_matrices<false>(b[j], b_rows + j * 2 * Tile::kEightRows);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) mma::multiply<T>(values[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  template <typename Put>
  __device__ void store(Put put) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          put(i * 16 + half * 8 + lane / 4, j * 8 + lane % 4 * 2, values[i][j][half * 2], values[i][j][half * 2 + 1]);
        }
      }
    }
  }
};
template <>
struct Sums<__half> : TensorSums<__half> {};
template <>
struct Sums<__nv_bfloat16> : TensorSums<__nv_bfloat16> {};

/// Stores sums within the output: one, or two adjacent 16-bit values in one access where rows allow it.
template <typename T>
struct Store {
  T* output;
  int pixels;
  int filters;

  __device__ void operator()(int pixel, int filter, float sum) const {
    if (pixel < pixels && filter < filters) output[std::int64_t{pixel} * filters + filter] = narrow<T>(sum);
  }
  __device__ void operator()(int pixel, int filter, float left, float right) const {
    if (pixel >= pixels || filter >= filters) return;
    const T pair[2] = {narrow<T>(left), narrow<T>(right)};
    T* to = output + std::int64_t{pixel} * filters + filter;
    if (filters % 2 == 0) {
      *reinterpret_cast<std::uint32_t*>(to) = *reinterpret_cast<const std::uint32_t*>(pair);
    } else {
      to[0] = pair[0];
      if (filter + 1 < filters) to[1] = pair[1];
    }
  }
};

/// Blocks that share pixels are consecutive, so that L2 serves the windows to all but the first.
template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads, 2)
    conv_implicit(const T* __restrict__ input, const T* __restrict__ filters, T* __restrict__ output, Extents size) {
  extern __shared__ Stage stages[];
  const int across = (size.filters + kTile - 1) / kTile;
  const int first_pixel = static_cast<int>(blockIdx.x) / across * kTile;
  const int first_filter = static_cast<int>(blockIdx.x) % across * kTile;
  Copier<Unit> copier(input, filters, size, first_pixel, first_filter);
  // One group of copies per stage, zeros past the end, so that the wait count is constant.
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    copier.start(stages[i], size);
    mma::commit_copies();
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int pixel = warp / 2 * kWarpTile;
  const int filter = warp % 2 * kWarpTile;
  constexpr int kUnits = kChunks * 16 / static_cast<int>(sizeof(Unit));  // of the depth in a stage
  Sums<T> sums;
  int stage = 0;
  for (int depth = 0; depth < size.depth; depth += kUnits) {
    mma::wait_copies<kStages - 2>();
    __syncthreads();  // this stage has arrived for all threads, and all have read the previous one
    copier.start(stages[(stage + kStages - 1) % kStages], size);
    mma::commit_copies();
    sums.multiply(stages[stage], pixel, filter);
    stage = (stage + 1) % kStages;
  }
  mma::wait_copies<0>();
  const Store<T> store{output, size.pixels, size.filters};
  sums.store([&](int row, int column, auto... values) {
    store(first_pixel + pixel + row, first_filter + filter + column, values...);
  });
}

template <typename T, typename Unit>
Kernel prepare_as(ConvSize size, cudaStream_t stream) {
  constexpr int kSharedBytes = kStages * static_cast<int>(sizeof(Stage));
  check(cudaFuncSetAttribute(conv_implicit<T, Unit>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
        "setting the implicit convolution's shared memory size");
  const auto blocks = static_cast<unsigned>(ceil_div(size.pixels, kTile) * ceil_div(size.filters, kTile));
  constexpr std::int64_t kElements = sizeof(Unit) / sizeof(T);
  size.channels /= kElements;
  size.depth /= kElements;
  return [=, extents = extents_of(size)](std::span<void* const> tensors) {
    conv_implicit<T, Unit><<<blocks, kThreads, kSharedBytes, stream>>>(
        static_cast<const T*>(tensors[0]), static_cast<const T*>(tensors[1]), static_cast<T*>(tensors[2]), extents);
    check_launch("implicit convolution kernel");
  };
}

Kernel prepare_implicit(const Workload& workload, Device& device) {
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const ConvSize size = conv_size(workload.shape);
    const cudaStream_t stream = as_cuda(device).stream();
    return size.channels % kLanes<T> == 0 ? prepare_as<T, uint4>(size, stream) : prepare_as<T, T>(size, stream);
  });
}

std::optional<std::string> unsupported_implicit(const Workload& workload, const Device&) {
  const ConvSize size = conv_size(workload.shape);
  const std::int64_t inputs = size.batch * size.height * size.width * size.channels;
  if (std::max({inputs, size.filters * size.depth, size.pixels * ceil_div(size.filters, kTile)}) < INT_MAX / 2) {
    return std::nullopt;
  }
  return "a tensor exceeds the kernel's 32-bit indices";
}

}  // namespace

Implementation conv2d_implicit() {
  return {.name = "implicit",
          .summary = "implicit GEMM: im2col tile by tile into shared memory, three stages ahead",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = unsupported_implicit,
          .prepare = prepare_implicit};
}

}  // namespace roofline
