// Inputs of flash_wgmma.cuh: tilings, shared-memory layout, the order of query tiles, and the producer thread that
// loads queries, keys and values.
#pragma once

#include "kernels/attention/flash.cuh"
#include "kernels/blocks/cuda/tma.cuh"

namespace roofline {

namespace flash_wgmma {

constexpr int kGroupThreads = 128;  ///< of a warpgroup
constexpr int kSpan = 64;           ///< elements of a row in a swizzled tile: 128 bytes
constexpr int kStages = 2;          /// of keys and of values; three or four are not faster

/// Tiling of a block: kGroups × 64 queries, keys in tiles of kKeys.
template <typename T_, int kDim_, int kGroups_, int kKeys_>
struct Tiling {
  using T = T_;
  static constexpr int kDim = kDim_;
  static constexpr int kGroups = kGroups_;
  static constexpr int kKeys = kKeys_;
  static constexpr int kQueries = 64 * kGroups;
  static constexpr int kThreads = kGroupThreads * (kGroups + 1);
  static constexpr int kHalves = kDim / kSpan;
  /// Registers are first distributed evenly over all warps; the producer's go to the consumers.
  static constexpr int kProducerRegisters = kGroups == 2 ? 24 : 32;
  static constexpr int kConsumerRegisters = kGroups == 2 ? 240 : 160;
};

/// Maps of [heads, seq, head_dim]: `q` in boxes of kQueries rows, `k` and `v` of kKeys, all kSpan wide.
struct Maps {
  CUtensorMap q, k, v;
};

/// Two words: the number of tiles fetched besides each block's first, and of blocks that have finished. Both are
/// zero between launches.
struct Schedule {
  unsigned* counters;
  int query_tiles;
  int section_heads;  ///< heads whose keys and values lie in the L2 together
  int tiles;
};

template <typename Tiling>
struct alignas(1024) Shared {
  using T = typename Tiling::T;
  T q[Tiling::kHalves][Tiling::kQueries][kSpan];
  T k[kStages][Tiling::kHalves][Tiling::kKeys][kSpan];
  T v[kStages][Tiling::kHalves][Tiling::kKeys][kSpan];
  Barrier q_full, q_empty;
  Barrier k_full[kStages], k_empty[kStages];
  Barrier v_full[kStages], v_empty[kStages];
  int tile;  ///< that q belongs to; -1 after the last
};

struct Tile {
  int head;
  int first_query;
  int key_tiles;
};

/// Heads come in sections whose keys and values share the L2; within a section the last queries come first, because
/// they see the most keys.
template <typename Tiling>
__device__ Tile tile_at(int index, const AttentionProblem& problem, const Schedule& schedule) {
  const int section_tiles = schedule.section_heads * schedule.query_tiles;
  const int first_head = index / section_tiles * schedule.section_heads;
  const int left = static_cast<int>(problem.heads) - first_head;
  const int heads = left < schedule.section_heads ? left : schedule.section_heads;
  const int within = index % section_tiles;
  const int first_query = (schedule.query_tiles - 1 - within / heads) * Tiling::kQueries;
  const int keys = problem.keys_of(first_query + Tiling::kQueries);
  return {first_head + within % heads, first_query, (keys + Tiling::kKeys - 1) / Tiling::kKeys};
}

/// Position in a ring of kStages buffers; the phase parity flips with every round. Written as RingPosition is,
/// these kernels are up to 3 % slower.
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    stage = stage + 1 == kStages ? 0 : stage + 1;
    parity ^= stage == 0;
  }
};

/// Loads one tile of keys or values into the next stage of its ring.
template <typename Tiling, typename Stage>
__device__ void load_stage(Stage (&stages)[kStages], Barrier (&full)[kStages], Barrier (&empty)[kStages], Ring& ring,
                           const CUtensorMap* map, int first, int head) {
  empty[ring.stage].wait(ring.parity ^ 1);
  full[ring.stage].arrive_expecting(sizeof(Stage));
#pragma unroll
  for (int half = 0; half < Tiling::kHalves; ++half) {
    load_tile(stages[ring.stage][half], map, full[ring.stage], half * kSpan, first, head, CacheHint::last);
  }
  ring.advance();
}

template <typename Tiling>
__device__ void produce(Shared<Tiling>& shared, const Maps& maps, const AttentionProblem& problem,
                        const Schedule& schedule) {
  Ring k, v;
  std::uint32_t q_parity = 1;
  int index = static_cast<int>(blockIdx.x);
  while (index < schedule.tiles) {
    const int next = static_cast<int>(gridDim.x + atomicAdd(schedule.counters, 1u));
    const Tile tile = tile_at<Tiling>(index, problem, schedule);
    const int kv_head = tile.head / problem.group;
    shared.q_empty.wait(q_parity);
    q_parity ^= 1;
    shared.tile = index;
    shared.q_full.arrive_expecting(sizeof shared.q);
#pragma unroll
    for (int half = 0; half < Tiling::kHalves; ++half) {
      load_tile(shared.q[half], &maps.q, shared.q_full, half * kSpan, tile.first_query, tile.head, CacheHint::first);
    }
    // Backwards, so that the tiles that need a mask come first; values one step after their keys, in the order
    // of use.
    for (int step = tile.key_tiles - 1; step >= -1; --step) {
      if (step >= 0) {
        load_stage<Tiling>(shared.k, shared.k_full, shared.k_empty, k, &maps.k, step * Tiling::kKeys, kv_head);
      }
      if (step + 1 < tile.key_tiles) {
        load_stage<Tiling>(shared.v, shared.v_full, shared.v_empty, v, &maps.v, (step + 1) * Tiling::kKeys, kv_head);
      }
    }
    index = next;
  }
  shared.q_empty.wait(q_parity);
  shared.tile = -1;
  shared.q_full.arrive();
  if (atomicAdd(schedule.counters + 1, 1u) == gridDim.x - 1) {  // no block counts any more: reset for the next launch
    schedule.counters[0] = 0;
    schedule.counters[1] = 0;
  }
}

template <typename Tiling>
__device__ void init_barriers(Shared<Tiling>& shared) {
  constexpr int kConsumerWarps = Tiling::kGroups * 4;
  shared.q_full.init(1);
  shared.q_empty.init(kConsumerWarps);
  for (int i = 0; i < kStages; ++i) {
    shared.k_full[i].init(1);
    shared.v_full[i].init(1);
    shared.k_empty[i].init(kConsumerWarps);
    shared.v_empty[i].init(kConsumerWarps);
  }
  fence_barrier_init();
}

}  // namespace flash_wgmma
}  // namespace roofline
