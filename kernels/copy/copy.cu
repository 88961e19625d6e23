// Copies within a GPU's memory.
//   scalar      one element per thread: 2- or 4-byte accesses
//   memcpy      cudaMemcpyAsync: the driver's kernel
//   vectorized  16 bytes per thread, in blocks of 256
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "kernels/blocks/cuda/cuda_launch.hpp"
#include "kernels/blocks/cuda/element.cuh"
#include "op/registry.hpp"

namespace roofline::copy_cuda {
namespace {

constexpr int kThreads = 256;

template <typename Word>
__global__ void __launch_bounds__(kThreads)
    copy_words(const Word* __restrict__ from, Word* __restrict__ to, std::int64_t words) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= words) return;
  if constexpr (sizeof(Word) == sizeof(uint4)) {
    __stcs(to + i, load_streaming(from + i));
  } else {
    to[i] = from[i];
  }
}

/// Copies whole words, and returns the number of bytes copied.
template <typename Word>
std::int64_t launch(const std::byte* from, std::byte* to, std::int64_t bytes, cudaStream_t stream) {
  const std::int64_t words = bytes / static_cast<std::int64_t>(sizeof(Word));
  if (words == 0) return 0;
  copy_words<<<static_cast<unsigned>(ceil_div(words, kThreads)), kThreads, 0, stream>>>(
      reinterpret_cast<const Word*>(from), reinterpret_cast<Word*>(to), words);
  check_launch("copy kernel");
  return words * static_cast<std::int64_t>(sizeof(Word));
}

enum class Variant { scalar, memcpy, vectorized };

Kernel prepare(const Workload& workload, Device& device, Variant variant) {
  const cudaStream_t stream = as_cuda(device).stream();
  const std::int64_t size = element_size(workload.dtype);
  return [stream, variant, size, bytes = workload.shape["n"] * size](std::span<void* const> tensors) {
    const auto* from = static_cast<const std::byte*>(tensors[0]);
    auto* to = static_cast<std::byte*>(tensors[1]);
    if (variant == Variant::memcpy) {
      check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream), "copying");
      return;
    }
    const std::int64_t done = variant == Variant::vectorized ? launch<uint4>(from, to, bytes, stream) : 0;
    if (size == 2) {
      launch<std::uint16_t>(from + done, to + done, bytes - done, stream);
    } else {
      launch<std::uint32_t>(from + done, to + done, bytes - done, stream);
    }
  };
}

Implementation implementation(std::string name, std::string summary, Variant variant) {
  return with_extent_limit(cuda_implementation(std::move(name), std::move(summary), prepare, variant), "n", kThreads);
}

const ImplementationRegistrar kRegistrar("copy", {implementation("scalar", "one element per thread", Variant::scalar),
                                                  implementation("memcpy", "cudaMemcpyAsync", Variant::memcpy),
                                                  implementation("vectorized", "16-byte accesses, one per thread",
                                                                 Variant::vectorized)});

}  // namespace
}  // namespace roofline::copy_cuda
