// Sum and maximum of all elements on a GPU. Sums are in fp32 (the atomics' in fp64), and all but the atomics' are
// added in an order that depends on n and the GPU only: reproducible bit by bit.
//   atomics     one element per thread, and one atomic operation on one address each: serialised
//   tree        partial results of blocks from a tree in shared memory, reduced by a second kernel
//   shuffle     the tree within warps in registers: two barriers per block instead of ten
//   vectorized  several 16-byte loads in flight per thread; block 0 reduces the partial results as they arrive
#include <algorithm>
#include <memory>
#include <tuple>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/reduce.cuh"
#include "op/registry.hpp"

namespace roofline::reduction_cuda {
namespace {

constexpr int kThreads = 512;
// 16-byte loads per thread and round: four are in flight, and the next is issued as one is added. Two to eight of
// them, in blocks for 1 to 16 times an SM's threads, are within 5 % of each other on an H200; this is the best of 30
// such pairs in bf16, and within 0.6 % of the best in fp32.
constexpr int kLoads = 8;
constexpr int kBlocksPerSm = 4;

/// The word of the atomics: doubles accumulate without an error that grows with n; a float's bits, mapped to the
/// order of unsigned integers, have an atomic maximum.
template <typename Combine>
struct Atomic;

template <>
struct Atomic<Sum> {
  using Word = double;
  static __device__ void apply(Word* total, float value) { atomicAdd(total, static_cast<double>(value)); }
  static __device__ float value(Word total) { return static_cast<float>(total); }
};

template <>
struct Atomic<Max> {
  using Word = unsigned;
  static constexpr unsigned kSign = 0x80000000u;
  static __device__ void apply(Word* total, float value) {
    const unsigned bits = __float_as_uint(value);
    atomicMax(total, (bits & kSign) != 0 ? ~bits : bits | kSign);
  }
  static __device__ float value(Word total) { return __uint_as_float((total & kSign) != 0 ? total & ~kSign : ~total); }
};

/// `total` is 0 before and after every launch of the two kernels.
template <typename T, typename Combine>
__global__ void __launch_bounds__(kThreads)
    combine_atomically(const T* __restrict__ x, typename Atomic<Combine>::Word* total, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) Atomic<Combine>::apply(total, widen(x[i]));
}

template <typename T, typename Combine>
__global__ void take_total(typename Atomic<Combine>::Word* total, T* __restrict__ out) {
  *out = narrow<T>(Atomic<Combine>::value(*total));
  *total = 0;
}

/// Over the block, halving in shared memory. Thread 0 gets the result.
template <typename Combine>
__device__ float tree_reduce(float value, Combine combine) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = value;
#pragma unroll
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
  }
  return values[0];
}

struct Tree {
  template <typename Combine>
  __device__ float operator()(float value, Combine combine) const {
    return tree_reduce(value, combine);
  }
};

struct Shuffle {
  template <typename Combine>
  __device__ float operator()(float value, Combine combine) const {
    return group_reduce<kThreads>(value, combine);
  }
};

/// One result per block of x[0 … n); a second launch of one block reduces them.
template <typename In, typename Out, typename Combine, typename Reduce>
__global__ void __launch_bounds__(kThreads)
    reduce_blocks(const In* __restrict__ x, Out* __restrict__ out, std::int64_t n) {
  float own = Combine::identity();
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) {
    own = Combine{}(own, widen(x[i]));
  }
  own = Reduce{}(own, Combine{});
  if (threadIdx.x == 0) out[blockIdx.x] = narrow<Out>(own);
}

template <typename T, typename Combine>
__device__ float reduce_vector(uint4 raw, Combine combine) {
  float values[kLanes<T>];
  widen_vector<T>(raw, values);
#pragma unroll
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
#pragma unroll
    for (int i = 0; i < width; ++i) values[i] = combine(values[i], values[i + width]);
  }
  return values[0];
}

/// This thread's part of x: the same number of chunks of kThreads * kLoads vectors for every block, then remaining
/// vectors, then elements past the last vector. One more chunk for some blocks would make the others wait: 3 % of
/// the time for 31 chunks.
template <typename T, typename Combine>
__device__ float reduce_share(const T* __restrict__ x, std::int64_t n, Combine combine) {
  const auto* vectors = reinterpret_cast<const uint4*>(x);
  const std::int64_t count = n / kLanes<T>;
  constexpr std::int64_t kChunk = std::int64_t{kThreads} * kLoads;
  const std::int64_t whole = count / (kChunk * gridDim.x) * gridDim.x;
  float own = Combine::identity();
  for (std::int64_t chunk = blockIdx.x; chunk < whole; chunk += gridDim.x) {
    uint4 raw[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) raw[i] = __ldcs(vectors + chunk * kChunk + i * kThreads + threadIdx.x);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) own = combine(own, reduce_vector<T>(raw[i], combine));
  }
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = whole * kChunk + thread; i < count; i += stride) {
    own = combine(own, reduce_vector<T>(vectors[i], combine));
  }
  for (std::int64_t i = count * kLanes<T> + thread; i < n; i += stride) own = combine(own, widen(x[i]));
  return own;
}

/// A block's result for block 0: 8 bytes that arrive atomically, so that no fence and no counter is needed.
struct Mail {
  static constexpr std::uint64_t kNone = 0;

  static __device__ void send(std::uint64_t* box, float value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(box), "l"(1ull << 32 | __float_as_uint(value)) : "memory");
  }
  /// Waits for it, and empties the box for the next launch.
  static __device__ float take(std::uint64_t* box) {
    std::uint64_t word = kNone;
    while (word == kNone) asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(box) : "memory");
    *box = kNone;
    return __uint_as_float(static_cast<unsigned>(word));
  }
};

/// All boxes, one per block, are empty before and after every launch. Block 0 waits for the others, which wait for
/// no block.
template <typename T, typename Combine>
__global__ void __launch_bounds__(kThreads)
    reduce_in_one_launch(const T* __restrict__ x, T* __restrict__ out, std::uint64_t* boxes, std::int64_t n) {
  GroupReducer<kThreads> reduce;
  const float own = reduce(reduce_share(x, n, Combine{}), Combine{});
  if (threadIdx.x == 0) Mail::send(boxes + blockIdx.x, own);
  if (blockIdx.x != 0) return;
  float total = Combine::identity();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) total = Combine{}(total, Mail::take(boxes + i));
  total = reduce(total, Combine{});
  if (threadIdx.x == 0) *out = narrow<T>(total);
}

enum class Variant { atomics, tree, shuffle, vectorized };

/// Parameters of a launch. `partial`: one result per block. `total`: the atomics' word.
struct Problem {
  cudaStream_t stream;
  std::int64_t n;
  unsigned blocks;
  DeviceMemory partial;
  DeviceMemory total;
};

template <typename T, typename Combine>
void launch(const Problem& problem, Variant variant, const T* x, T* out) {
  const auto [stream, n, blocks] = std::tie(problem.stream, problem.n, problem.blocks);
  auto* partial = static_cast<float*>(problem.partial.get());
  if (variant == Variant::atomics) {
    auto* total = static_cast<typename Atomic<Combine>::Word*>(problem.total.get());
    combine_atomically<T, Combine><<<blocks, kThreads, 0, stream>>>(x, total, n);
    take_total<T, Combine><<<1, 1, 0, stream>>>(total, out);
  } else if (variant == Variant::tree) {
    reduce_blocks<T, float, Combine, Tree><<<blocks, kThreads, 0, stream>>>(x, partial, n);
    reduce_blocks<float, T, Combine, Tree><<<1, kThreads, 0, stream>>>(partial, out, blocks);
  } else if (variant == Variant::shuffle) {
    reduce_blocks<T, float, Combine, Shuffle><<<blocks, kThreads, 0, stream>>>(x, partial, n);
    reduce_blocks<float, T, Combine, Shuffle><<<1, kThreads, 0, stream>>>(partial, out, blocks);
  } else {
    auto* boxes = static_cast<std::uint64_t*>(problem.partial.get());
    reduce_in_one_launch<T, Combine><<<blocks, kThreads, 0, stream>>>(x, out, boxes, n);
  }
  check_launch("reduction kernel");
}

std::shared_ptr<Problem> make_problem(CudaDevice& device, std::int64_t n, Variant variant) {
  const std::int64_t full = std::int64_t{device.properties().sm_count} * kBlocksPerSm;
  const std::int64_t work = ceil_div(n, kThreads);
  auto problem = std::make_shared<Problem>();
  problem->stream = device.stream();
  problem->n = n;
  problem->blocks = static_cast<unsigned>(variant == Variant::atomics ? work : std::min(work, full));
  const auto partial_bytes = static_cast<std::size_t>(full) * sizeof(std::uint64_t);
  problem->partial = make_device_memory(partial_bytes);
  problem->total = make_device_memory(sizeof(double));
  device.fill(problem->partial.get(), std::byte{0}, partial_bytes);
  device.fill(problem->total.get(), std::byte{0}, sizeof(double));
  return problem;
}

template <typename Combine>
Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const std::shared_ptr<const Problem> problem = make_problem(as_cuda(device), workload.shape["n"], variant);
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [problem, variant](std::span<void* const> tensors) {
      launch<T, Combine>(*problem, variant, static_cast<const T*>(tensors[0]), static_cast<T*>(tensors[1]));
    };
  });
}

template <typename Combine>
std::vector<Implementation> ladder() {
  const auto implementation = [](const char* name, const char* summary, Variant which) {
    return with_extent_limit(cuda_implementation(name, summary, prepare<Combine>, which), "n", kThreads);
  };
  return {
      implementation("atomics", "one atomic operation per element, all on one address", Variant::atomics),
      implementation("tree", "tree reduction in shared memory per block, two kernels", Variant::tree),
      implementation("shuffle", "warp shuffles, two kernels", Variant::shuffle),
      implementation("vectorized",
                     "several 16-byte loads in flight, one kernel: block 0 reduces the partial results of all blocks",
                     Variant::vectorized)};
}

const ImplementationRegistrar kSum("reduction", ladder<Sum>());
const ImplementationRegistrar kMaximum("maximum", ladder<Max>());

}  // namespace
}  // namespace roofline::reduction_cuda
