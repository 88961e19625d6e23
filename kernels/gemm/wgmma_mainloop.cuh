// A persistent Hopper matrix product, c = a · b: TMA fills a ring of tiles in shared memory, two warpgroups multiply
// them with wgmma, and TMA stores the results while the next tile starts. GEMM and implicit-GEMM convolution are
// this kernel with different tile loads.
//
// Roles. A block has three warpgroups. One thread of the first is the producer: it waits until a stage of the ring
// is empty and starts the copies into it, up to kStages ahead. Each of the other two has 64 of the tile's 128 rows
// and all kTileN columns, with the accumulators in its registers; it waits until a stage is full, multiplies, and
// releases it. The ring continues across tiles, so that the next tile's operands arrive during the epilogue.
//
// Clusters. kCluster blocks with vertically adjacent tiles use the same columns of b: each loads its part of them
// and multicasts it to all, which divides their L2 reads of b by kCluster. A stage is therefore empty when the
// consumers of all blocks of the cluster have released it.
//
// Usage: pass `wgmma_gemm<Config>` an object with the members below (as __grid_constant__, so that its tensor maps
// can be used in place). Only the producer calls the functions.
//
//   CUtensorMap c;   the result [m, n] of 16-bit elements: boxes of 16 rows x 64 columns, swizzle_128
//   int steps() const;   along k, of Config::kDepth elements each
//   void load_a(void* to, Barrier& full, int row, int step) const;
//       rows [row, row + 128) of a, 128 bytes of k each: 128 x 128 bytes, swizzle_128 (k-major)
//   void load_b(void* to, Barrier& full, int column, int step, int part) const;
//       the part-th of Config::kBoxes boxes of the columns [column, column + kTileN), multicast to Config::kEveryBlock:
//       k-major, a box has kBoxN columns of 128 bytes of k; transposed (n runs fastest in memory), kDepth rows of 64
//
// Elements outside a matrix must read as zero, which TMA ensures.
#pragma once

#include <cooperative_groups.h>

#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/blocks/cuda/tma.cuh"
#include "kernels/blocks/cuda/wgmma.cuh"

namespace roofline {

/// kTransposeB: b is [k, n] with n fastest in memory (16-bit types only), otherwise [n, k] with k fastest.
template <typename T, typename Out, int kColumns, int kBlocks, bool kTransposeB>
struct WgmmaConfig {
  using Element = T;
  using Result = Out;
  static constexpr bool kTransposedB = kTransposeB;
  static constexpr int kTileM = 128;  ///< of one block
  static constexpr int kTileN = kColumns;
  static constexpr int kDepth = 128 / static_cast<int>(sizeof(T));
  static constexpr int kCluster = kBlocks;
  static constexpr std::uint16_t kEveryBlock = (1U << kBlocks) - 1;

  static constexpr int kBoxN = kTransposeB ? 64 : kColumns / kBlocks;
  static constexpr int kBoxes = kColumns / kBoxN;
  static constexpr int kBytesA = kTileM * 128;
  static constexpr int kBoxBytes = kBoxN * 128;
  static constexpr int kStageBytes = kBytesA + kBoxes * kBoxBytes;

  static constexpr int kConsumers = 2;  /// warpgroups that multiply, 64 rows each
  static constexpr int kThreads = (1 + kConsumers) * 128;
  static constexpr int kStoreBytes = 16 * 64 * 2;                        /// per warp and store
  static constexpr int kResultBytes = kConsumers * 4 * 2 * kStoreBytes;  /// two such buffers per warp
  static constexpr int kMostSharedBytes = 227 * 1024;
  static constexpr int kStages = (kMostSharedBytes - 2048 - kResultBytes) / kStageBytes;
  /// Includes space to align the tiles to 1024 bytes, and the barriers.
  static constexpr int kSharedBytes = 2048 + kResultBytes + kStages * kStageBytes;
  static_assert(kStages >= 3 && sizeof(Out) == 2 && kBoxes % kBlocks == 0);
};

/// Order of the tiles: strips of `group` rows of tiles, each traversed column by column, so that concurrent blocks
/// cover a nearly square area and share L2 reads.
struct TileOrder {
  int rows;     ///< of tiles, each of kCluster * kTileM rows
  int columns;  ///< of tiles
  int group;

  __host__ __device__ int count() const { return rows * columns; }
  __device__ int2 at(int index) const {
    const int strip = index / (group * columns);
    const int height = min(group, rows - strip * group);
    const int within = index - strip * group * columns;
    return make_int2(strip * group + within % height, within / height);
  }
};

template <typename Config>
struct WgmmaRing {
  std::byte* tiles;
  Barrier* full;   ///< the stage's bytes have arrived
  Barrier* empty;  /// no warp of the cluster reads it any more

  __device__ std::byte* a(int stage) const { return tiles + stage * Config::kStageBytes; }
  __device__ std::byte* b(int stage) const { return a(stage) + Config::kBytesA; }
};

template <typename Config, typename Operands>
__device__ void produce(const Operands& operands, const WgmmaRing<Config>& ring, const TileOrder& order, int first,
                        int stride, int block) {
  constexpr int kShare = Config::kBoxes / Config::kCluster;
  RingPosition<Config::kStages> at;
  const int steps = operands.steps();
  for (int index = first; index < order.count(); index += stride) {
    const int2 tile = order.at(index);
    const int row = (tile.x * Config::kCluster + block) * Config::kTileM;
    for (int step = 0; step < steps; ++step, at.advance()) {
      Barrier& full = ring.full[at.stage];
      ring.empty[at.stage].wait(at.parity ^ 1);
      full.arrive_expecting(Config::kStageBytes);
      operands.load_a(ring.a(at.stage), full, row, step);
#pragma unroll
      for (int i = 0; i < kShare; ++i) {
        const int part = block * kShare + i;
        operands.load_b(ring.b(at.stage) + part * Config::kBoxBytes, full, tile.y * Config::kTileN, step, part);
      }
    }
  }
}

/// Multiplies 64 rows of a stage into the accumulators. Issues the MMAs and does not wait for them.
template <typename Config>
__device__ void multiply_stage(float (&sums)[Config::kTileN / 2], const std::byte* a, const std::byte* b, bool first) {
  constexpr int kSteps = 128 / wgmma::kStepBytes;
  constexpr int kStepB = Config::kTransposedB ? 2048 : wgmma::kStepBytes;
  const std::uint64_t left = wgmma::descriptor(a);
  const std::uint64_t right = wgmma::descriptor(b, Config::kTransposedB ? Config::kBoxBytes : 16);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    wgmma::Product<typename Config::Element, Config::kTileN, Config::kTransposedB>::run(
        sums, wgmma::advance(left, i * wgmma::kStepBytes), wgmma::advance(right, i * kStepB), !first || i > 0);
  }
  wgmma::commit();
}

/// Stores the two 8 x 8 tiles of 16-bit elements below each other at `columns`, and those to their right, in
/// accumulator layout, to shared memory at `to`; each lane addresses one row of one tile.
__device__ inline void store_matrices(std::uint32_t to, const std::uint32_t (&tiles)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(tiles[0]),
               "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3])
               : "memory");
#endif
}

/// Stores a warp's 16 rows, 64 columns at a time, through its own two buffers: a buffer is reused once TMA has read
/// it, so a warp waits for no other.
template <typename Config>
__device__ void store_results(const float (&sums)[Config::kTileN / 2], std::byte* buffers, const CUtensorMap& map,
                              int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_row = lane % 16;
#pragma unroll
  for (int chunk = 0; chunk < Config::kTileN / 64; ++chunk) {
    std::byte* buffer = buffers + chunk % 2 * Config::kStoreBytes;
    if (lane == 0) wait_stores_read<1>();
    __syncwarp();
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      std::uint32_t tiles[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = chunk * 32 + pair * 8 + i * 2;
        tiles[i] = mma::pack<typename Config::Result>(sums[at], sums[at + 1]);
      }
      const int sixteen_bytes = (pair * 2 + lane / 16) ^ (lane_row % 8);  // the 128-byte swizzle
      store_matrices(shared_address(buffer) + static_cast<std::uint32_t>(lane_row * 128 + sixteen_bytes * 16), tiles);
    }
    fence_async_proxy();
    __syncwarp();
    if (lane == 0) {
      store_tile(&map, buffer, column + chunk * 64, row);
      commit_stores();
    }
  }
}

template <typename Config>
__device__ void consume(const CUtensorMap& map, int steps, const WgmmaRing<Config>& ring, std::byte* results,
                        const TileOrder& order, int first, int stride, int block) {
  const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int warp = thread / 32;
  std::byte* buffers = results + (consumer * 4 + warp) * 2 * Config::kStoreBytes;
  // One thread per block of the cluster; the MMAs are complete for the whole warpgroup.
  const auto hand_back = [&](int stage) {
    if (thread < Config::kCluster) ring.empty[stage].arrive_at(static_cast<std::uint32_t>(thread));
  };

  RingPosition<Config::kStages> at;
  for (int index = first; index < order.count(); index += stride) {
    const int2 tile = order.at(index);
    float sums[Config::kTileN / 2];
    int previous = 0;
    for (int step = 0; step < steps; ++step, at.advance()) {
      ring.full[at.stage].wait(at.parity);
      multiply_stage<Config>(sums, ring.a(at.stage) + consumer * 64 * 128, ring.b(at.stage), step == 0);
      wgmma::wait<1>();
      if (step > 0) hand_back(previous);
      previous = at.stage;
    }
    wgmma::wait<0>();
#pragma unroll
    for (float& sum : sums) wgmma::touch(sum);
    hand_back(previous);
    const int row = (tile.x * Config::kCluster + block) * Config::kTileM + consumer * 64 + warp * 16;
    store_results<Config>(sums, buffers, map, row, tile.y * Config::kTileN);
  }
}

/// Grid: a multiple of Config::kCluster blocks of Config::kThreads threads, in clusters of Config::kCluster, with
/// Config::kSharedBytes of dynamic shared memory. At least one step.
template <typename Config, typename Operands>
__global__ void __launch_bounds__(Config::kThreads, 1)
    wgmma_gemm(const __grid_constant__ Operands operands, const TileOrder order) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte raw_shared[];
  __shared__ Barrier barriers[2 * Config::kStages];
  std::byte* shared = raw_shared + (1024 - shared_address(raw_shared) % 1024) % 1024;
  const WgmmaRing<Config> ring = {shared, barriers, barriers + Config::kStages};
  std::byte* results = shared + Config::kStages * Config::kStageBytes;

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Config::kStages; ++stage) {
      ring.full[stage].init(1);
      ring.empty[stage].init(Config::kConsumers * Config::kCluster);
    }
    fence_barrier_init();
  }
  const auto cluster = cooperative_groups::this_cluster();
  cluster.sync();

  const int block = static_cast<int>(cluster.block_rank());
  const int first = static_cast<int>(blockIdx.x) / Config::kCluster;
  const int stride = static_cast<int>(gridDim.x) / Config::kCluster;
  if (threadIdx.x < 128) {
    lower_registers<40>();
    if (threadIdx.x == 0) produce(operands, ring, order, first, stride, block);
  } else {
    raise_registers<232>();
    consume(operands.c, operands.steps(), ring, results, order, first, stride, block);
    if (threadIdx.x % 32 == 0) wait_stores_read<0>();
  }
  __syncwarp();
  cluster.sync();  // no block exits while others may still arrive at its barriers
#endif
}

}  // namespace roofline
