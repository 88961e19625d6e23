// Flash attention for 16-bit types on Hopper (wgmma, TMA; sm_90a), after FlashAttention-3. One thread of a producer
// warpgroup keeps two stages of keys and values in flight. Each consumer warpgroup has 64 queries; their scores,
// weights and outputs stay in its registers. Two overlaps keep the tensor cores busy during softmax: a warpgroup
// issues the MMAs of its next scores before the softmax of the current ones, and the warpgroups alternate
// (ping-pong), so that one's softmax runs during the other's MMAs. Blocks are persistent and fetch tiles of queries
// from a counter, the longest first.
#pragma once

#include "kernels/attention/wgmma_feed.cuh"
#include "kernels/blocks/cuda/mma.cuh"
#include "kernels/blocks/cuda/wgmma.cuh"

namespace roofline {

namespace flash_wgmma {

constexpr int kFirstTurn = 1;  /// named barrier of the first warpgroup's turn; 0 is __syncthreads()

/// Registers and steps of a consumer warpgroup. In an accumulator tile of 64 rows a thread has two rows, lane / 4
/// and lane / 4 + 8 of its warp's 16, and the columns wgmma::column_of in each: `half` below is 0 or 1 for the row.
template <typename Tiling>
struct Consumer {
  using T = typename Tiling::T;
  static constexpr int kScores = Tiling::kKeys / 2;
  static constexpr int kOutputs = Tiling::kDim / 2;

  Shared<Tiling>& shared;
  const int group;  ///< 0 … kGroups - 1
  Ring k = {}, v = {};
  std::uint32_t q_parity = 0;
  float maximum[2], sum[2];
  float s[kScores];
  float o[kOutputs];
  std::uint32_t p[Tiling::kKeys / 16][4];

  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x) % kGroupThreads; }

  /// One arrival per warp: waiting for MMAs covers the warp's own part of them only.
  static __device__ __forceinline__ void release(Barrier& barrier) {
    if (threadIdx.x % 32 == 0) barrier.arrive();
  }

  __device__ __forceinline__ void take_turn() const { sync_named(kFirstTurn + group, 2 * kGroupThreads); }
  __device__ __forceinline__ void pass_turn() const {
    arrive_named(kFirstTurn + (group + 1 == Tiling::kGroups ? 0 : group + 1), 2 * kGroupThreads);
  }

  /// Starts s = q kᵀ with the keys of the current stage.
  __device__ __forceinline__ void start_scores() {
    wait_for_scores();
    wgmma::fence();
    const std::uint64_t q = wgmma::descriptor(shared.q[0][group * 64]);
    const std::uint64_t keys = wgmma::descriptor(shared.k[k.stage]);
#pragma unroll
    for (int step = 0; step < Tiling::kDim / 16; ++step) {
      const int inside = step % 4 * wgmma::kStepBytes;
      wgmma::Product<T, Tiling::kKeys>::run(s, wgmma::advance(q, step / 4 * int{sizeof shared.q[0]} + inside),
                                            wgmma::advance(keys, step / 4 * int{sizeof shared.k[0][0]} + inside),
                                            step > 0);
    }
    wgmma::commit();
  }

  /// Starts o += p v with the values of the current stage.
  __device__ __forceinline__ void start_outputs() {
    wait_for_outputs();
    wgmma::fence();
    const std::uint64_t values = wgmma::descriptor(shared.v[v.stage], int{sizeof shared.v[0][0]});
#pragma unroll
    for (int step = 0; step < Tiling::kKeys / 16; ++step) {
      wgmma::Product<T, Tiling::kDim, true>::run(o, p[step], wgmma::advance(values, step * 16 * kSpan * 2), true);
    }
    wgmma::commit();
  }

  __device__ __forceinline__ void wait_for_scores() {
#pragma unroll
    for (int i = 0; i < kScores; ++i) wgmma::touch(s[i]);
  }
  __device__ __forceinline__ void wait_for_outputs() {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) wgmma::touch(o[i]);
  }

  /// Without this, ptxas moves the whole softmax behind the wait for the outputs that follows, and a warpgroup's
  /// softmax overlaps none of its own MMAs. It cannot move instructions across a branch that depends on their
  /// result; this branch is never taken.
  __device__ __forceinline__ void hold() const {
    if (sum[0] == -1.0f || sum[1] == -1.0f) asm volatile("nanosleep.u32 1;");
  }

  /// Zero weight for keys from `end[half]` on, counted from the tile's first key.
  __device__ __forceinline__ void mask(const int (&end)[2]) {
    const int first = thread() % 4 * 2;
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      if (i / 4 * 8 + i % 2 + first >= end[i / 2 % 2]) s[i] = -INFINITY;
    }
  }

  /// Turns scores into powers of two below the running maximum; `shrink` is the factor for the outputs so far.
  __device__ __forceinline__ void softmax(float scale_log2, float (&shrink)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float highest = maximum[half];
#pragma unroll
      for (int i = half * 2; i < kScores; i += 4) highest = fmaxf(highest, fmaxf(s[i], s[i + 1]));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
      // A row that has only seen masked keys has no maximum yet; zero keeps its weights zero.
      const float base = highest == -INFINITY ? 0.0f : highest * scale_log2;
      shrink[half] = fast_exp2(fmaf(maximum[half], scale_log2, -base));
      maximum[half] = highest;
      sum[half] *= shrink[half];
#pragma unroll
      for (int i = half * 2; i < kScores; i += 4) {
#pragma unroll
        for (int j = i; j < i + 2; ++j) {
          s[j] = fast_exp2(fmaf(s[j], scale_log2, -base));
          sum[half] += s[j];  // this thread's columns; the four threads of a row are reduced at the end
        }
      }
    }
  }

  /// Accumulators of two 8-column tiles already have the layout of the left operand of a step over 16 keys.
  __device__ __forceinline__ void pack_weights() {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i) p[i / 4][i % 4] = mma::pack<T>(s[2 * i], s[2 * i + 1]);
  }

  __device__ __forceinline__ void shrink_outputs(const float (&shrink)[2]) {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o[i] *= shrink[i / 2 % 2];
  }

  /// Masks the scores of key tile `step` if necessary, and exponentiates them.
  __device__ __forceinline__ void weigh(const Tile& tile, int step, const AttentionProblem& problem,
                                        float (&shrink)[2]) {
    const int row = tile.first_query + group * 64;
    const int first_key = step * Tiling::kKeys;
    if (first_key + Tiling::kKeys > problem.keys_of(row + 1)) {
      const int mine = row + wgmma::row_of(thread(), 0);
      const int end[2] = {problem.keys_of(mine + 1) - first_key, problem.keys_of(mine + 9) - first_key};
      mask(end);
    }
    softmax(problem.scale_log2, shrink);
  }

  /// The outputs of 64 queries, not yet divided by the sums. MMAs issued before a wait run during the softmax
  /// between issue and wait. All MMAs are issued within a turn. Between its first scores and its next turn a
  /// warpgroup passes the turn on, because otherwise each warpgroup would wait for the others' prologues and
  /// epilogues.
  __device__ __forceinline__ void attend(const Tile& tile, const AttentionProblem& problem) {
    float shrink[2];
    maximum[0] = maximum[1] = -INFINITY;
    sum[0] = sum[1] = 0;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o[i] = 0;

    int step = tile.key_tiles - 1;
    shared.k_full[k.stage].wait(k.parity);
    take_turn();
    start_scores();
    pass_turn();
    wgmma::wait<0>();
    wait_for_scores();
    release(shared.k_empty[k.stage]);
    k.advance();
    weigh(tile, step, problem, shrink);
    pack_weights();
    while (--step >= 0) {
      shared.k_full[k.stage].wait(k.parity);
      take_turn();
      start_scores();
      shared.v_full[v.stage].wait(v.parity);
      start_outputs();
      pass_turn();
      wgmma::wait<1>();
      wait_for_scores();
      release(shared.k_empty[k.stage]);
      k.advance();
      weigh(tile, step, problem, shrink);
      hold();
      wgmma::wait<0>();
      wait_for_outputs();
      release(shared.v_empty[v.stage]);
      v.advance();
      pack_weights();
      shrink_outputs(shrink);
    }
    release(shared.q_empty);
    shared.v_full[v.stage].wait(v.parity);
    take_turn();
    start_outputs();
    pass_turn();
    wgmma::wait<0>();
    wait_for_outputs();
    release(shared.v_empty[v.stage]);
    v.advance();
  }

  /// The four threads of a row hold two columns each of every eight. Afterwards thread t has all eight columns of
  /// the t-th of four such tiles, for one 16-byte store.
  static __device__ __forceinline__ uint4 gather_tile(std::uint32_t (&words)[4]) {
    const bool odd = threadIdx.x & 1;
    const bool high = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t got = __shfl_xor_sync(0xffffffffu, odd ? words[i] : words[i + 1], 1);
      (odd ? words[i] : words[i + 1]) = got;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t got = __shfl_xor_sync(0xffffffffu, high ? words[i] : words[i + 2], 2);
      (high ? words[i] : words[i + 2]) = got;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
  }

  __device__ __forceinline__ void store(T* out, const Tile& tile, const AttentionProblem& problem) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = sum[half];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      const float scale = 1.0f / total;
      const int row = tile.first_query + group * 64 + wgmma::row_of(thread(), half * 2);
      T* to = out + (std::int64_t{tile.head} * problem.seq + row) * problem.head_dim;
#pragma unroll
      for (int quarter = 0; quarter < Tiling::kDim / 32; ++quarter) {
        std::uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = quarter * 16 + i * 4 + half * 2;
          words[i] = mma::pack<T>(o[at] * scale, o[at + 1] * scale);
        }
        const uint4 eight = gather_tile(words);
        const int column = quarter * 32 + thread() % 4 * 8;
        if (row < problem.seq && column < problem.head_dim) *reinterpret_cast<uint4*>(to + column) = eight;
      }
    }
  }

  __device__ __forceinline__ void consume(T* out, const AttentionProblem& problem, const Schedule& schedule) {
    if (group == Tiling::kGroups - 1) pass_turn();
    for (;;) {
      shared.q_full.wait(q_parity);
      q_parity ^= 1;
      int index = 0;  // read by the lane that releases the queries' buffer
      if (threadIdx.x % 32 == 0) index = shared.tile;
      index = __shfl_sync(0xffffffffu, index, 0);
      if (index < 0) return;
      const Tile tile = tile_at<Tiling>(index, problem, schedule);
      attend(tile, problem);
      store(out, tile, problem);
    }
  }
};

template <typename Tiling>
__global__ void __launch_bounds__(Tiling::kThreads, 1)
    kernel(const __grid_constant__ Maps maps, typename Tiling::T* __restrict__ o, AttentionProblem problem,
           Schedule schedule) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Tiling>*>(memory);
  if (threadIdx.x == 0) init_barriers(shared);
  __syncthreads();
  const int warpgroup = static_cast<int>(threadIdx.x) / kGroupThreads;
  if (warpgroup == 0) {
    lower_registers<Tiling::kProducerRegisters>();
    if (threadIdx.x == 0) produce(shared, maps, problem, schedule);
  } else {
    raise_registers<Tiling::kConsumerRegisters>();
    Consumer<Tiling> consumer{.shared = shared, .group = warpgroup - 1};
    consumer.consume(o, problem, schedule);
  }
#endif
}

}  // namespace flash_wgmma
}  // namespace roofline
