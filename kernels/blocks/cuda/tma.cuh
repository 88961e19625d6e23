// Hopper's bulk tensor copies (TMA, sm_90): one thread copies tiles between global and shared memory, addressed by a
// tensor map (tensor_map.hpp). Coordinates are in elements, innermost first; elements outside read as zero and are
// not written. On other targets the functions do nothing.
#pragma once

#include <cuda.h>

#include "kernels/blocks/cuda/mbarrier.cuh"

namespace roofline {

__device__ inline void prefetch_map(const CUtensorMap* map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/// L2 eviction policies for loads: evict last or evict first (as createpolicy makes for a whole tensor).
enum class CacheHint : std::uint64_t {
  normal = 0x1000000000000000,
  first = 0x12F0000000000000,
  last = 0x14F0000000000000
};

/// `bytes` contiguous bytes; they and both addresses are multiples of 16.
__device__ inline void load_bulk(void* to, const void* from, std::uint32_t bytes, Barrier& done,
                                 CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&done)), "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}

__device__ inline void load_tile(void* to, const CUtensorMap* map, Barrier& done, int x, int y,
                                 CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(&done)), "r"(x), "r"(y), "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}
__device__ inline void load_tile(void* to, const CUtensorMap* map, Barrier& done, int x, int y, int z,
                                 CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(&done)), "r"(x), "r"(y), "r"(z), "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}

/// Multicast of the same tile to every block of the cluster whose bit is set in `blocks`, at the same offset, each
/// completing on its own barrier at that offset.
__device__ inline void load_tile_multicast(void* to, const CUtensorMap* map, Barrier& done, int x, int y,
                                           std::uint16_t blocks, CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5, %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(&done)), "r"(x), "r"(y), "h"(blocks), "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}

__device__ inline void load_tile_multicast(void* to, const CUtensorMap* map, Barrier& done, int x, int y, int z,
                                           std::uint16_t blocks, CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5}], [%2], %6, %7;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(&done)), "r"(x), "r"(y), "r"(z), "h"(blocks), "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}

/// A tile of a map in im2col mode: channels from `channel` on of consecutive output pixels, as seen by the tap
/// (tap_x, tap_y). The first pixel is given by the start of its window: x, y in the image, negative in the padding.
__device__ inline void load_pixels(void* to, const CUtensorMap* map, Barrier& done, int channel, int x, int y,
                                   int image, int tap_x, int tap_y, CacheHint hint = CacheHint::normal) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(&done)), "r"(channel), "r"(x), "r"(y), "r"(image),
      "h"(static_cast<std::uint16_t>(tap_x)), "h"(static_cast<std::uint16_t>(tap_y)),
      "l"(static_cast<std::uint64_t>(hint))
      : "memory");
#endif
}

/// Stores a tile; requires fence_async_proxy() and a barrier before, and commit_stores() by the same thread after.
__device__ inline void store_tile(const CUtensorMap* map, const void* from, int x, int y) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
#endif
}
__device__ inline void store_tile(const CUtensorMap* map, const void* from, int x, int y, int z) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
#endif
}
__device__ inline void commit_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// Waits until at most kPending groups of stores still read shared memory.
template <int kPending>
__device__ inline void wait_stores_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace roofline
