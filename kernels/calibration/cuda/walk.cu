// The check of repeated passes (walk.cuh): the number of times that a block read each vector follows from its start
// and length, so the expected checksum needs no second pass.
#include "kernels/calibration/cuda/walk.cuh"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace roofline {
namespace {

/// sums[y] receives the expected checksum of block y * every.
__global__ void expected_kernel(const uint4* set, Walk walk, std::uint32_t apart, std::uint32_t every,
                                std::uint32_t* sums) {
  const std::uint32_t start = walk.start(blockIdx.y * every);
  set += std::size_t{blockIdx.y} * every * apart;
  const std::uint64_t length = std::uint64_t{walk.rounds} * walk.round;
  const auto whole = static_cast<std::uint32_t>(length / walk.vectors);
  const auto rest = static_cast<std::uint32_t>(length % walk.vectors);
  std::uint32_t own = 0;
  for (std::uint32_t v = blockIdx.x * blockDim.x + threadIdx.x; v < walk.vectors; v += gridDim.x * blockDim.x) {
    const std::uint32_t distance = v >= start ? v - start : v + (walk.vectors - start);
    own += sum_of(set[v]) * (whole + (distance < rest ? 1 : 0));
  }
  atomicAdd(&sums[blockIdx.y], own);
}

}  // namespace

std::optional<std::string> check_walk(CudaDevice& device, const void* set, const Walk& walk, const void* sums,
                                      int warps_per_block, std::uint32_t apart) {
  // All blocks if the set is small; a few for a set of gigabytes, because each check reads it.
  constexpr std::uint32_t kMostVectors = 1u << 30;
  const std::uint32_t checked = std::clamp(kMostVectors / walk.vectors, 3u, walk.blocks);
  const std::uint32_t every = (walk.blocks - 1) / (checked - 1);
  const auto expected_sums = device.allocate(checked * sizeof(std::uint32_t));
  device.fill(expected_sums->data(), std::byte{0}, expected_sums->size());
  expected_kernel<<<dim3(256, checked), 256, 0, device.stream()>>>(static_cast<const uint4*>(set), walk, apart, every,
                                                                   static_cast<std::uint32_t*>(expected_sums->data()));
  check_launch("strided-read check");
  std::vector<std::uint32_t> expected(checked);
  device.download(expected.data(), expected_sums->data(), checked * sizeof(std::uint32_t));
  std::vector<std::uint32_t> warps(std::size_t{walk.blocks} * static_cast<std::size_t>(warps_per_block));
  device.download(warps.data(), sums, warps.size() * sizeof(std::uint32_t));
  for (std::uint32_t i = 0; i < checked; ++i) {
    const auto first = warps.begin() + static_cast<std::ptrdiff_t>(i * every) * warps_per_block;
    const std::uint32_t sum = std::accumulate(first, first + warps_per_block, 0u);
    if (sum == expected[i]) continue;
    return fmt::format("block {}: checksum {:#x}, expected {:#x}", i * every, sum, expected[i]);
  }
  return std::nullopt;
}

}  // namespace roofline
