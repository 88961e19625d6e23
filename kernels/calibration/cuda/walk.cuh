// A set that is read repeatedly: every block reads all of it in a cycle, from its own evenly spaced start. Used by
// l1.read, l2.read and the working-set sweep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "device/cuda/check.hpp"
#include "kernels/calibration/cuda/probe.cuh"

namespace roofline {

/// The levels that may serve a load: any, or L2 and beyond.
enum class From { any, l2 };

/// 16 bytes. volatile, because the same address is read repeatedly and every read must be executed.
template <From kFrom>
__device__ inline uint4 load(const uint4* at) {
  uint4 value;
  if constexpr (kFrom == From::any) {
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(at));
  } else {
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(at));
  }
  return value;
}

__host__ __device__ inline std::uint32_t sum_of(uint4 value) { return (value.x + value.y) + (value.z + value.w); }

/// Repeated passes over a set of 16-byte vectors.
struct Walk {
  std::uint32_t vectors = 0;  ///< in the set; a multiple of `grain`, and as many as a block has threads at least
  std::uint32_t grain = 0;    ///< starts are multiples of it
  std::uint32_t blocks = 0;
  std::uint32_t rounds = 0;  ///< each block takes `round` vectors, that often
  std::uint32_t round = 0;

  __host__ __device__ std::uint32_t start(std::uint32_t block) const {
    return static_cast<std::uint32_t>(std::uint64_t{block} * vectors / blocks / grain * grain);
  }
  std::int64_t bytes() const { return std::int64_t{rounds} * round * blocks * 16; }
};

/// kInFlight loads per thread before the first use, in groups of kGroup whose addresses differ by constants only:
/// int32 address arithmetic limits single loads (kGroup 1) to 0.94 of the L1 port. A group is kThreads * kGroup
/// vectors, and unless kGroup is 1 the set must be a multiple of that.
template <From kFrom, int kThreads, int kInFlight, int kGroup>
__global__ void __launch_bounds__(kThreads) walk_kernel(const uint4* __restrict__ set, Walk walk, std::uint32_t* sums) {
  static_assert(kInFlight % kGroup == 0);
  std::uint32_t at = walk.start(blockIdx.x) + threadIdx.x;
  at = at >= walk.vectors ? at - walk.vectors : at;
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < walk.rounds; ++round) {
    uint4 value[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      value[i] = load<kFrom>(set + at + i % kGroup * kThreads);
      if (i % kGroup < kGroup - 1) continue;
      at += kThreads * kGroup;
      at = at >= walk.vectors ? at - walk.vectors : at;
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sum += sum_of(value[i]);
  }
  // No shared memory, which would reduce the L1 that is measured.
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * (kThreads / 32) + threadIdx.x / 32] = sum;
}

/// Checks the checksums of some of the blocks: the reason if they are wrong, or nothing. The set of each block
/// begins `apart` vectors after that of the previous block; 0 if all read the same one.
std::optional<std::string> check_walk(CudaDevice& device, const void* set, const Walk& walk, const void* sums,
                                      int warps_per_block, std::uint32_t apart = 0);

/// Resident blocks of `threads` per SM, by registers and shared memory: with one more, a launch would have a second
/// wave in which most SMs idle.
template <typename Kernel>
int resident_blocks(Kernel* kernel, int threads) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), "asking for the occupancy");
  return std::max(1, blocks);
}

/// Passes by `blocks_per_sm` blocks that read at least `wanted_bytes` of a set, times `scale`.
inline Walk plan_walk(const CudaDevice& device, std::int64_t set_bytes, int blocks_per_sm, int round,
                      std::int64_t wanted_bytes, double scale) {
  Walk walk;
  walk.vectors = static_cast<std::uint32_t>(set_bytes / 16);
  walk.grain = 32;  // a warp's 512 bytes
  walk.blocks = static_cast<std::uint32_t>(device.properties().sm_count * blocks_per_sm);
  walk.round = static_cast<std::uint32_t>(round);
  const auto rounds = static_cast<double>(wanted_bytes / (std::int64_t{16} * walk.round * walk.blocks) + 1);
  walk.rounds = static_cast<std::uint32_t>(rounds * scale);
  return walk;
}

/// A case that reads `set_bytes` of `set` repeatedly, at least `wanted_bytes`, times `scale`. The caller sets
/// level, set-dependent texts and x.
template <From kFrom, int kThreads, int kInFlight, int kGroup>
ProbeCase walk_case(CudaDevice& device, std::shared_ptr<Buffer> set, std::int64_t set_bytes, int blocks_per_sm,
                    std::int64_t wanted_bytes, double scale) {
  auto* const kernel = walk_kernel<kFrom, kThreads, kInFlight, kGroup>;
  Walk walk = plan_walk(device, set_bytes, blocks_per_sm, kThreads * kInFlight, wanted_bytes, scale);
  if (kGroup > 1) walk.grain = kThreads * kGroup;
  const std::shared_ptr<Buffer> sums = shared_buffer(device, std::int64_t{walk.blocks} * (kThreads / 32) * 4);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1),
        "setting the L1/shared-memory carve-out");
  ProbeCase made;
  made.amount = static_cast<double>(walk.bytes());
  made.working_set_bytes = static_cast<double>(set_bytes);
  made.instruction = "LDG.E.128";
  made.code = looks_for(kernel, made.instruction);
  made.operands = sample_of(device, set);
  made.run = [=, stream = device.stream()] {
    kernel<<<walk.blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(set->data()), walk,
                                                 static_cast<std::uint32_t*>(sums->data()));
    check_launch("strided-read kernel");
  };
  made.verify = [=, &device] { return check_walk(device, set->data(), walk, sums->data(), kThreads / 32); };
  return made;
}

}  // namespace roofline
