// A stream-K schedule for kernels that stream from memory: output tiles of equal length are laid end to end, and their
// iterations are split evenly over as many blocks as fit on the GPU at once. All blocks start and end together, so that
// memory idles only at the beginning and at the end. With one block for each split of a tile, memory would idle at the
// end of every wave.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define ROOFLINE_HOST_DEVICE __host__ __device__
#else
#define ROOFLINE_HOST_DEVICE
#endif

namespace roofline {

/// The iterations of one tile that one block does.
struct WorkUnit {
  int tile;
  int first;   ///< iteration, counted from the tile's first
  int count;   ///< iterations, 1 or more
  int split;   ///< index of this work unit among the tile's
  int splits;  ///< work units of the tile
};

/// `tiles` of `iterations` each. A block does `min_iterations`, the first `longer_blocks` blocks one more.
struct TileSchedule {
  int tiles = 1;
  int iterations = 1;
  int blocks = 1;
  int min_iterations = 1;
  int longer_blocks = 0;

  /// A schedule for `blocks` blocks, or one block per iteration if that is fewer. All tiles together have at most
  /// 2^31 - 1 iterations.
  static TileSchedule make(std::int64_t tiles, std::int64_t iterations, std::int64_t blocks) {
    const std::int64_t all = tiles * iterations;
    if (blocks > all) blocks = all;
    return {static_cast<int>(tiles), static_cast<int>(iterations), static_cast<int>(blocks),
            static_cast<int>(all / blocks), static_cast<int>(all % blocks)};
  }

  ROOFLINE_HOST_DEVICE int first_iteration(int block) const {
    return block * min_iterations + (block < longer_blocks ? block : longer_blocks);
  }
  /// The block that does an iteration, counted over all tiles.
  ROOFLINE_HOST_DEVICE int block_of(int iteration) const {
    const int in_longer = longer_blocks * (min_iterations + 1);
    return iteration < in_longer ? iteration / (min_iterations + 1)
                                 : longer_blocks + (iteration - in_longer) / min_iterations;
  }
  /// Upper bound of the work units of a tile.
  ROOFLINE_HOST_DEVICE int max_splits() const { return (iterations - 1) / min_iterations + 2; }

  /// Calls work(work_unit) for each tile of which the block does iterations, in order.
  template <typename Work>
  ROOFLINE_HOST_DEVICE void for_each_work_unit(int block, Work work) const {
    const int end = first_iteration(block + 1);
    for (int iteration = first_iteration(block); iteration < end;) {
      const int tile = iteration / iterations;
      const int tile_end = (tile + 1) * iterations;
      const int first_block = block_of(tile * iterations);
      const int stop = end < tile_end ? end : tile_end;
      work(WorkUnit{.tile = tile,
                    .first = iteration - tile * iterations,
                    .count = stop - iteration,
                    .split = block - first_block,
                    .splits = block_of(tile_end - 1) - first_block + 1});
      iteration = stop;
    }
  }
};

}  // namespace roofline
