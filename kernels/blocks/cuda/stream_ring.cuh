// A ring of buffers in shared memory, through which a block reads what it streams: one thread has the copy engine fill
// them (sm_90), the other warps empty them in the same order. Nearly all of an SM's shared memory is on its way at any
// time, more than its registers could hold, and nobody waits for addresses.
#pragma once

#include <cstddef>

#include "kernels/blocks/cuda/last_block.cuh"
#include "kernels/blocks/cuda/tma.cuh"

namespace roofline {

/// The warps of a block that streams through a ring:
///   consumers   compute, and leave what they have at the end of a piece of work
///   joiners     join that with what other blocks have left, while the consumers are at the next piece
///   feeder      one thread, which asks for the data of one piece after another
/// Memory is so busy then that a load or a fence takes microseconds: consumers that did the joining would stand still
/// for 3 to 6 µs a piece.
template <int kConsumerWarpCount, int kJoinerWarps>
struct StreamRoles {
  static constexpr int kConsumerWarps = kConsumerWarpCount;
  static constexpr int kConsumers = 32 * kConsumerWarps;
  using Joiners = Team<32 * kJoinerWarps, kConsumers>;
  static constexpr int kFeeder = kConsumers + Joiners::kThreads;
  static constexpr int kThreads = kFeeder + 32;
};

/// A buffer that all threads of one role write and all of another read, again and again.
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

  /// By one thread, before a barrier of the block. `warps` empty the ring.
  __device__ void init(int warps) {
    for (int i = 0; i < kStages; ++i) {
      full[i].init(1);
      empty[i].init(static_cast<std::uint32_t>(warps));
    }
    fence_barrier_init();
  }

  /// The one thread's: copy(next stage, its barrier) once it is empty. The copies are of `bytes` in all.
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

  /// The warps': the next stage, once it is full.
  __device__ const std::byte* await(const Position& at) {
    full[at.stage].wait(at.parity);
    return stages[at.stage];
  }

  /// The warp has read the stage.
  __device__ void release(Position& at) {
    empty[at.stage].arrive_as_warp();
    at.advance();
  }
};

}  // namespace roofline
