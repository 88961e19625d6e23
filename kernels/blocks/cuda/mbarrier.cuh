// Barriers in shared memory that count arrivals and bytes (mbarrier, sm_90): TMA completes on them, and warps with
// different roles hand buffers over with them. On other targets the functions do nothing, and the host never
// launches their callers.
#pragma once

#include <cstdint>

namespace roofline {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Initialise from one thread, then fence_barrier_init() and a __syncthreads() (a cluster barrier if other blocks
/// of the cluster use it). A phase ends when `arrivals` threads have arrived and all expected bytes have been
/// copied.
struct alignas(8) Barrier {
  std::uint64_t state;

  __device__ void init(std::uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals) : "memory");
#endif
  }
  __device__ void arrive() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
#endif
  }
  /// One arrival for the warp, once all of its threads are here.
  __device__ void arrive_as_warp() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive();
  }
  /// Arrives at the same barrier of another block of the cluster. Releases a buffer without ordering this
  /// thread's stores: a cluster-scope release is a memory barrier, which took more than 1,000 cycles.
  __device__ void arrive_at(std::uint32_t block) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(shared_address(this)),
        "r"(block)
        : "memory");
#endif
  }
  /// Arrives, and makes the phase also wait for that many bytes of asynchronous copies.
  __device__ void arrive_expecting(std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
                 "r"(bytes)
                 : "memory");
#endif
  }
  /// Waits until the phase of that parity (0 for the first) has ended.
  __device__ void wait(std::uint32_t parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{.reg .pred done;\n"
        "retry: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra retry;}" ::"r"(shared_address(this)),
        "r"(parity)
        : "memory");
#endif
  }
};

/// Position of one side in a ring of buffers: with every round the phase parity of the buffers' barriers flips.
template <int kStages>
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Makes initialised barriers visible to TMA and to the other blocks of the cluster.
__device__ inline void fence_barrier_init() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// Orders generic accesses to shared memory, loads too, before accesses by TMA or the tensor cores.
__device__ inline void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Waits for `threads` threads (a multiple of 32) of the block at the named barrier `id` (1 to 15).
__device__ inline void sync_named(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Arrives there without waiting.
__device__ inline void arrive_named(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Decreases or increases the register count to kRegisters per thread, for all warps of a warpgroup.
template <int kRegisters>
__device__ inline void lower_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}
template <int kRegisters>
__device__ inline void raise_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

}  // namespace roofline
