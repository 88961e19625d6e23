// Rotary position embedding on a GPU. A thread holds some angles in registers and rotates the same elements of
// several heads of its token.
//   scalar      one element of each half at a time: 2- or 4-byte accesses
//   vectorized  16 bytes of each half of two heads: four accesses in flight (single elements if half a head is not
//               a multiple of 16 bytes)
#include <algorithm>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/row.cuh"
#include "op/registry.hpp"

namespace roofline::rope_cuda {
namespace {

constexpr int kMostThreads = 512;  /// half of the longest head, one element per thread

struct Extents {
  unsigned tokens;
  unsigned positions;  ///< token t is at position t mod positions
  int heads;           ///< of a token
  int half;            ///< elements of half a head
};

/// Angles are read again by every block with the same position, so they may stay in the caches.
template <int kWidth>
__device__ void load_angles(float (&out)[kWidth], const float* from) {
  using Load = Access<float, kWidth == 1 ? 1 : kLanes<float>>;
  constexpr int kStep = kWidth == 1 ? 1 : kLanes<float>;
#pragma unroll
  for (int i = 0; i < kWidth; i += kStep) {
    float part[kStep];
    Load::widen_into(part, Load::load(from + i));
#pragma unroll
    for (int j = 0; j < kStep; ++j) out[i + j] = part[j];
  }
}

/// Data that is not read again within the launch.
template <typename T, int kWidth>
__device__ void store_once(T* to, const float (&values)[kWidth]) {
  if constexpr (kWidth == 1) {
    *to = narrow<T>(values[0]);
  } else {
    __stcs(reinterpret_cast<uint4*>(to), narrow_vector<T>(values));
  }
}

template <typename T, int kWidth>
__device__ void rotate(typename Access<T, kWidth>::Raw lower, typename Access<T, kWidth>::Raw upper,
                       const float (&cos)[kWidth], const float (&sin)[kWidth], T* y, int half) {
  float a[kWidth];
  float b[kWidth];
  Access<T, kWidth>::widen_into(a, lower);
  Access<T, kWidth>::widen_into(b, upper);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const float turned = a[i] * cos[i] - b[i] * sin[i];
    b[i] = b[i] * cos[i] + a[i] * sin[i];
    a[i] = turned;
  }
  store_once<T>(y, a);
  store_once<T>(y + half, b);
}

/// A block is [tokens, heads, accesses to half a head]; a thread loads from kHeads heads before it rotates them.
template <typename T, int kWidth, int kHeads>
__global__ void __launch_bounds__(kMostThreads) rope(const T* __restrict__ x, const float* __restrict__ cos,
                                                     const float* __restrict__ sin, T* __restrict__ y, Extents e) {
  using Load = Access<T, kWidth>;
  const unsigned token = blockIdx.x * blockDim.z + threadIdx.z;
  if (token >= e.tokens) return;
  const int column = static_cast<int>(threadIdx.x) * kWidth;
  const std::int64_t entry = std::int64_t{token % e.positions} * e.half + column;
  float c[kWidth];
  float s[kWidth];
  load_angles(c, cos + entry);
  load_angles(s, sin + entry);
  const std::int64_t width = 2 * e.half;
  const std::int64_t first = std::int64_t{token} * e.heads * width + column;
  const int stride = static_cast<int>(blockDim.y);
  for (int head = static_cast<int>(threadIdx.y); head < e.heads; head += kHeads * stride) {
    typename Load::Raw lower[kHeads];
    typename Load::Raw upper[kHeads];
#pragma unroll
    for (int k = 0; k < kHeads; ++k) {
      if (head + k * stride >= e.heads) break;
      const T* from = x + first + (head + k * stride) * width;
      lower[k] = Load::load_once(from);
      upper[k] = Load::load_once(from + e.half);
    }
#pragma unroll
    for (int k = 0; k < kHeads; ++k) {
      if (head + k * stride >= e.heads) break;
      rotate<T, kWidth>(lower[k], upper[k], c, s, y + first + (head + k * stride) * width, e.half);
    }
  }
}

/// As many heads of a token as a block has room for, the same number in each of its rounds; if a token leaves room,
/// several tokens.
dim3 block_of(const Extents& e, int width, int heads_of_thread) {
  constexpr int kThreads = 384;  // 40 heads of 128 elements, two per thread, in one round in fp32
  constexpr int kMostTokens = 64;
  const int accesses = e.half / width;
  const std::int64_t room = std::max(1, kThreads / accesses);
  const std::int64_t rounds = ceil_div(e.heads, room * heads_of_thread);
  const auto heads = static_cast<int>(ceil_div(e.heads, rounds * heads_of_thread));
  const int tokens = std::clamp(kThreads / (accesses * heads), 1, kMostTokens);
  return {static_cast<unsigned>(accesses), static_cast<unsigned>(heads), static_cast<unsigned>(tokens)};
}

template <typename T, int kWidth, int kHeads>
void launch(const Extents& e, cudaStream_t stream, std::span<void* const> tensors) {
  const dim3 block = block_of(e, kWidth, kHeads);
  const auto blocks = static_cast<unsigned>(ceil_div(e.tokens, block.z));
  rope<T, kWidth, kHeads>
      <<<blocks, block, 0, stream>>>(static_cast<const T*>(tensors[0]), static_cast<const float*>(tensors[1]),
                                     static_cast<const float*>(tensors[2]), static_cast<T*>(tensors[3]), e);
  check_launch("rope kernel");
}

enum class Variant { scalar, vectorized };

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const cudaStream_t stream = as_cuda(device).stream();
  const Shape& shape = workload.shape;
  const Extents e{.tokens = static_cast<unsigned>(shape["batch"] * shape["seq"]),
                  .positions = static_cast<unsigned>(shape["seq"]),
                  .heads = static_cast<int>(shape["heads"]),
                  .half = static_cast<int>(shape["head_dim"] / 2)};
  return with_element_type(workload.dtype, [&]<typename T>() -> Kernel {
    return [stream, e, variant](std::span<void* const> tensors) {
      if (variant == Variant::scalar) {
        launch<T, 1, 1>(e, stream, tensors);
      } else if (e.half % kLanes<T> == 0) {
        launch<T, kLanes<T>, 2>(e, stream, tensors);
      } else {
        launch<T, 1, 2>(e, stream, tensors);
      }
    };
  });
}

Implementation implementation(std::string name, std::string summary, Variant variant) {
  Implementation made = cuda_implementation(std::move(name), std::move(summary), prepare, variant);
  made.unsupported = [](const Workload& workload, const Device&) -> std::optional<std::string> {
    if (workload.shape["batch"] <= INT_MAX / workload.shape["seq"]) return std::nullopt;
    return "batch * seq exceeds the maximum grid size";
  };
  return made;
}

const ImplementationRegistrar kRegistrar(
    "rope",
    {implementation("scalar", "one element of each half at a time, angles in registers", Variant::scalar),
     implementation("vectorized", "16-byte accesses, four in flight: both halves of two heads", Variant::vectorized)});

}  // namespace
}  // namespace roofline::rope_cuda
