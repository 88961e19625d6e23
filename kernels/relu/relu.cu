// ReLU on a GPU: y = max(x, 0). It moves bytes and does nothing else; the ladder is about moving them.
//   naive       one element a thread: 2- or 4-byte accesses
//   vectorized  16 bytes a thread, one vector each: a quarter to an eighth of the instructions
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"
#include "kernels/cuda_launch.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void relu_naive(const T* __restrict__ x, T* __restrict__ y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = narrow<T>(fmaxf(widen(x[i]), 0.0f));
}

// One vector a thread and a block for every 256 of them: on an H200 a grid-stride loop with four loads in
// flight copied at 3.84 TB/s, this at 4.26.
template <typename T>
__global__ void relu_vectorized(const T* __restrict__ x, T* __restrict__ y, std::int64_t n) {
  const std::int64_t vector = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t first = vector * kLanes<T>;
  if (first + kLanes<T> <= n) {
    float values[kLanes<T>];
    widen_vector<T>(load_streaming(reinterpret_cast<const uint4*>(x) + vector), values);
#pragma unroll
    for (float& value : values) value = fmaxf(value, 0.0f);
    __stcs(reinterpret_cast<uint4*>(y) + vector, narrow_vector<T>(values));
    return;
  }
  for (std::int64_t i = first; i < n; ++i) y[i] = narrow<T>(fmaxf(widen(x[i]), 0.0f));
}

enum class Rung { naive, vectorized };

Kernel prepare(const Workload& workload, Device& device, Rung rung) {
  const cudaStream_t stream = as_cuda(device).stream();
  const std::int64_t n = workload.shape["n"];
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    const std::int64_t threads = rung == Rung::naive ? n : ceil_div(n, kLanes<T>);
    const auto blocks = static_cast<unsigned>(ceil_div(threads, kThreads));
    return [stream, n, blocks, rung](std::span<void* const> tensors) {
      const auto* x = static_cast<const T*>(tensors[0]);
      auto* y = static_cast<T*>(tensors[1]);
      if (rung == Rung::naive) {
        relu_naive<T><<<blocks, kThreads, 0, stream>>>(x, y, n);
      } else {
        relu_vectorized<T><<<blocks, kThreads, 0, stream>>>(x, y, n);
      }
      check_launch("relu kernel");
    };
  });
}

Implementation rung(std::string name, std::string summary, Rung rung) {
  return with_extent_limit(cuda_rung(std::move(name), std::move(summary), prepare, rung), "n", kThreads);
}

const ImplementationRegistrar kRegistrar("relu",
                                         {rung("naive", "one element a thread", Rung::naive),
                                          rung("vectorized", "16-byte accesses, one a thread", Rung::vectorized)});

}  // namespace
}  // namespace roofline
