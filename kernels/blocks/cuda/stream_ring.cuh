// A ring of buffers in shared memory through which a block streams its input: one thread issues TMA copies into them
// (sm_90), the other warps consume them in order. Nearly all of an SM's shared memory is in flight at any time, more
// than its registers could hold, and no warp waits for address computation.
#pragma once

#include <cstddef>

#include "kernels/blocks/cuda/last_block.cuh"
#include "kernels/blocks/cuda/tma.cuh"

namespace roofline {

/// Warp roles of a streaming block:
///   consumers   compute, and write a partial result at the end of a work unit
///   joiners     reduce it with the partial results of other blocks, while the consumers do the next work unit
///   feeder      one thread, which issues the loads of all work units
/// Under this memory load a load or a fence takes microseconds: if consumers did the reduction, they would idle for
/// 3 to 6 µs per work unit.
template <int kConsumerWarpCount, int kJoinerWarps>
struct StreamRoles {
  static constexpr int kConsumerWarps = kConsumerWarpCount;
  static constexpr int kConsumers = 32 * kConsumerWarps;
  using Joiners = Team<32 * kJoinerWarps, kConsumers>;
  static constexpr int kFeeder = kConsumers + Joiners::kThreads;
  static constexpr int kThreads = kFeeder + 32;
};

/// A buffer that all threads of one role write and all of another read, repeatedly.
struct Handover {
  Barrier full, empty;

  __device__ void init(int givers, int takers) {
    full.init(static_cast<std::uint32_t>(givers));
    empty.init(static_cast<std::uint32_t>(takers));
  }
};

template <int kStages, int kStageBytes>
struct alignas(128) StreamRing {
  using Position = RingPosition<kStages>;

  std::byte stages[kStages][kStageBytes];
  Barrier full[kStages];
  Barrier empty[kStages];

  /// Called by one thread, before a block barrier. `warps` consume the ring.
  __device__ void init(int warps) {
    for (int i = 0; i < kStages; ++i) {
      full[i].init(1);
      empty[i].init(static_cast<std::uint32_t>(warps));
    }
    fence_barrier_init();
  }

  /// Producer: copy(next stage, its barrier) once it is empty. The copies have `bytes` in total.
  template <typename Copy>
  __device__ void fill(Position& at, std::uint32_t bytes, Copy copy) {
    empty[at.stage].wait(at.parity ^ 1);
    full[at.stage].arrive_expecting(bytes);
    copy(stages[at.stage], full[at.stage]);
    at.advance();
  }
  /// `bytes` from `from` on, both multiples of 16.
  __device__ void fill(Position& at, const void* from, std::uint32_t bytes) {
    fill(at, bytes, [&](std::byte* stage, Barrier& done) { load_bulk(stage, from, bytes, done, CacheHint::first); });
  }

  /// Consumer: the next stage, once it is full.
  __device__ const std::byte* await(const Position& at) {
    full[at.stage].wait(at.parity);
    return stages[at.stage];
  }

  /// Consumer: the warp has read the stage.
  __device__ void release(Position& at) {
    fence_async_proxy();  // an arrival does not wait for loads, and the producer copies over the stage
    empty[at.stage].arrive_as_warp();
    at.advance();
  }
};

}  // namespace roofline
