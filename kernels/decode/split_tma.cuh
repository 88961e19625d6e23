// Decode attention on tensor cores, with keys and values loaded by TMA (sm_90): split_mma.cuh's arithmetic from a
// ring of stages in shared memory. One block per SM, most of whose shared memory is in flight at any time, with warp
// roles (stream_ring.cuh).
#pragma once

#include "kernels/blocks/cuda/stream_ring.cuh"
#include "kernels/decode/split_mma.cuh"

namespace roofline {

namespace decode_tma {

using decode_mma::kKeys;
using decode_split::KeyRange;
using decode_split::Problem;

struct SharedMemory {
  static __device__ uint4 load(const void* from) { return *static_cast<const uint4*>(from); }
};

/// kTiles: of eight queries. With more than twelve warps a thread has 128 registers instead of 168.
template <int kTiles>
using Roles = StreamRoles<8, kTiles == 1 ? 4 : 3>;

template <typename T, int kDim, int kTiles>
struct Shared {
  using Roles = decode_tma::Roles<kTiles>;
  using Warp = decode_mma::Warp<T, kDim, kTiles, SharedMemory>;
  static constexpr int kPartFloats = Roles::kConsumerWarps * Warp::kHeads * (kDim + 2);
  static constexpr int kStageBytes = 32 * 1024;  /// stages of half the size are up to 1 % slower
  static constexpr int kStageKeys = kStageBytes / (kDim * static_cast<int>(sizeof(T)));
  static constexpr int kStages = (226 * 1024 - kPartFloats * 4 - Warp::kHeads * kDim * 2) / kStageBytes;

  StreamRing<kStages, kStageBytes> ring;  /// keys and the values of the same keys, alternating
  alignas(16) T queries[Warp::kHeads * kDim];
  alignas(8) float parts[kPartFloats];
  Handover queries_handed, parts_handed;

  __device__ void init() {
    queries_handed.init(1, Roles::kConsumers);
    parts_handed.init(Roles::kConsumers, Roles::Joiners::kThreads);
    ring.init(Roles::kConsumerWarps);
  }
};

template <typename T, int kDim, int kTiles>
__device__ void feed(Shared<T, kDim, kTiles>& shared, const T* q, const T* k, const T* v, const Problem& problem) {
  constexpr int kStageKeys = Shared<T, kDim, kTiles>::kStageKeys;
  const auto bytes = [&](int rows) { return static_cast<std::uint32_t>(rows * problem.head_dim * sizeof(T)); };
  typename decltype(shared.ring)::Position at;
  std::uint32_t parity = 0;
  problem.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    const KeyRange range(problem, work_unit);
    shared.queries_handed.empty.wait(parity ^ 1);
    parity ^= 1;
    fence_async_proxy();
    shared.queries_handed.full.arrive_expecting(bytes(range.heads));
    load_bulk(shared.queries, q + range.queries, bytes(range.heads), shared.queries_handed.full);
    for (int first = 0; first < range.end; first += kStageKeys) {
      const std::int64_t from = range.keys + std::int64_t{first} * problem.head_dim;
      const std::uint32_t size = bytes(min(kStageKeys, range.end - first));
      shared.ring.fill(at, k + from, size);
      shared.ring.fill(at, v + from, size);
    }
  });
}

template <typename T, int kDim, int kTiles>
__device__ void attend(Shared<T, kDim, kTiles>& shared, const Problem& problem) {
  using Warp = typename Shared<T, kDim, kTiles>::Warp;
  constexpr int kStageKeys = Shared<T, kDim, kTiles>::kStageKeys;
  constexpr int kStep = kKeys * Roles<kTiles>::kConsumerWarps;
  constexpr int kRounds = kStageKeys / kStep;
  typename decltype(shared.ring)::Position at;
  std::uint32_t parity = 0;
  problem.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    const KeyRange range(problem, work_unit);
    Warp warp;
    shared.queries_handed.full.wait(parity);
    warp.start(shared.queries, range.heads, problem.head_dim);
    fence_async_proxy();  // an arrival does not wait for loads, and the next queries are copied over these
    shared.queries_handed.empty.arrive();
    for (int stage = 0; stage < range.end; stage += kStageKeys) {
      const int left = min(kStageKeys, range.end - stage);
      const int own = static_cast<int>(threadIdx.x) / 32 * kKeys;
      float s[kRounds][kTiles][4] = {};
      const auto* k = reinterpret_cast<const T*>(shared.ring.await(at));
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int first = own + round * kStep;
        if (first >= left) break;
        uint4 keys[2][Warp::kKeyChunks];
        Warp::load_keys(keys, k, first, left, problem.head_dim);
        warp.scores(keys, s[round]);
      }
      shared.ring.release(at);
      const auto* v = reinterpret_cast<const T*>(shared.ring.await(at));
#pragma unroll
      for (int round = 0; round < kRounds; ++round) {
        const int first = own + round * kStep;
        if (first >= left) break;
        uint4 values[4][Warp::kValueChunks];
        Warp::load_values(values, v, first, left, problem.head_dim);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) warp.softmax(s[round][n], n, left - first, problem.scale_log2);
        warp.outputs(values, s[round]);
      }
      shared.ring.release(at);
    }
    shared.parts_handed.empty.wait(parity ^ 1);
    warp.leave(shared.parts, problem);
    shared.parts_handed.full.arrive();
    parity ^= 1;
  });
}

template <typename T, int kDim, int kTiles>
__device__ void join(Shared<T, kDim, kTiles>& shared, T* o, const Problem& problem) {
  std::uint32_t parity = 0;
  problem.schedule.for_each_work_unit(static_cast<int>(blockIdx.x), [&](const WorkUnit& work_unit) {
    shared.parts_handed.full.wait(parity);
    parity ^= 1;
    decode_split::finish<typename Roles<kTiles>::Joiners>(shared.parts, Roles<kTiles>::kConsumerWarps,
                                                          KeyRange(problem, work_unit), problem, o);
    shared.parts_handed.empty.arrive();
  });
}

template <typename T, int kDim, int kTiles>
__global__ void __launch_bounds__(Roles<kTiles>::kThreads, 1)
    kernel(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ o,
           Problem problem) {
  extern __shared__ __align__(128) std::byte raw[];
  auto& shared = *reinterpret_cast<Shared<T, kDim, kTiles>*>(raw);
  if (threadIdx.x == 0) shared.init();
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < Roles<kTiles>::kConsumers) {
    attend(shared, problem);
  } else if (thread < Roles<kTiles>::kFeeder) {
    join(shared, o, problem);
  } else if (thread == Roles<kTiles>::kFeeder) {
    feed(shared, q, k, v, problem);
  }
}

}  // namespace decode_tma
}  // namespace roofline
