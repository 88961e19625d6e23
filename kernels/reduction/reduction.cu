// Sum on a GPU. Both rungs add in fp32, in an order that depends on n and the GPU only, so that a sum is
// the same bits every time: no floating-point atomics.
//   tree        one element a load, partial sums in a first kernel, their sum in a second
//   vectorized  eight 16-byte loads in flight a thread; the last block to finish adds the partial sums
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/element.cuh"
#include "device/cuda/handles.hpp"
#include "device/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline {
namespace {

constexpr int kThreads = 512;
constexpr int kInFlight = 8;
// 4 blocks of 512 fill an SM's 2048 threads; more waves of them even out the end of the sweep.
constexpr int kBlocksPerSm = 16;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    partial_sums(const T* __restrict__ x, float* __restrict__ partial, std::int64_t n) {
  float sum = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) sum += widen(x[i]);
  sum = group_reduce<kThreads>(sum, Sum{});
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_of_partials(const float* __restrict__ partial, int count, T* __restrict__ out) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += partial[i];
  sum = group_reduce<kThreads>(sum, Sum{});
  if (threadIdx.x == 0) *out = narrow<T>(sum);
}

template <typename T>
__device__ float vector_sum(uint4 raw) {
  float values[kLanes<T>];
  widen_vector<T>(raw, values);
#pragma unroll
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
#pragma unroll
    for (int i = 0; i < width; ++i) values[i] += values[i + width];
  }
  return values[0];
}

/// This thread's share of x: whole chunks of kThreads * kInFlight vectors, then what is left of them, then
/// the elements past the last vector.
template <typename T>
__device__ float thread_sum(const T* __restrict__ x, std::int64_t n) {
  const auto* vectors = reinterpret_cast<const uint4*>(x);
  const std::int64_t count = n / kLanes<T>;
  constexpr std::int64_t kChunk = std::int64_t{kThreads} * kInFlight;
  const std::int64_t whole = count / kChunk;
  float sum = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < whole; chunk += gridDim.x) {
    uint4 raw[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) raw[i] = __ldcs(vectors + chunk * kChunk + i * kThreads + threadIdx.x);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sum += vector_sum<T>(raw[i]);
  }
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = whole * kChunk + thread; i < count; i += stride) sum += vector_sum<T>(vectors[i]);
  for (std::int64_t i = count * kLanes<T> + thread; i < n; i += stride) sum += widen(x[i]);
  return sum;
}

/// `finished` is 0 before and after every launch.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_in_one_pass(const T* __restrict__ x, T* __restrict__ out, float* partial, unsigned* finished, std::int64_t n) {
  __shared__ bool last;
  const float sum = group_reduce<kThreads>(thread_sum(x, n), Sum{});
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // the partial sum is visible before the count says that it is there
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float total = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) total += __ldcg(partial + i);
  total = group_reduce<kThreads>(total, Sum{});
  if (threadIdx.x == 0) {
    *out = narrow<T>(total);
    *finished = 0;
  }
}

enum class Rung { tree, vectorized };

struct Workspace {
  DeviceMemory partial;
  DeviceMemory finished;
};

Kernel prepare(const Workload& workload, Device& device, Rung rung) {
  const CudaDevice& cuda = as_cuda(device);
  const cudaStream_t stream = cuda.stream();
  const std::int64_t n = workload.shape["n"];
  const std::int64_t work = rung == Rung::tree ? ceil_div(n, kThreads) : ceil_div(n, kThreads * kInFlight);
  const int most = cuda.properties().sm_count * kBlocksPerSm;
  const int blocks = static_cast<int>(std::min<std::int64_t>(work, most));
  // std::function wants a copyable callable: the workspace is shared by the copies.
  auto space = std::make_shared<Workspace>();
  space->partial = make_device_memory(static_cast<std::size_t>(blocks) * sizeof(float));
  space->finished = make_device_memory(sizeof(unsigned));
  device.fill(space->finished.get(), std::byte{0}, sizeof(unsigned));
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [stream, n, blocks, rung, space](std::span<void* const> tensors) {
      const auto* x = static_cast<const T*>(tensors[0]);
      auto* out = static_cast<T*>(tensors[1]);
      auto* partial = static_cast<float*>(space->partial.get());
      if (rung == Rung::tree) {
        partial_sums<T><<<blocks, kThreads, 0, stream>>>(x, partial, n);
        check_launch("reduction kernel");
        sum_of_partials<T><<<1, kThreads, 0, stream>>>(partial, blocks, out);
      } else {
        auto* finished = static_cast<unsigned*>(space->finished.get());
        sum_in_one_pass<T><<<blocks, kThreads, 0, stream>>>(x, out, partial, finished, n);
      }
      check_launch("reduction kernel");
    };
  });
}

Implementation implementation(std::string name, std::string summary, Rung rung) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .unsupported = {},
          .prepare = [rung](const Workload& workload, Device& device) { return prepare(workload, device, rung); }};
}

const ImplementationRegistrar kRegistrar("reduction",
                                         {implementation("tree", "scalar loads, two kernels", Rung::tree),
                                          implementation("vectorized", "eight 16-byte loads in flight, one kernel",
                                                         Rung::vectorized)});

}  // namespace
}  // namespace roofline
