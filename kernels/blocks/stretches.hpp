// One wave of blocks for work that streams: tasks of equal length are laid end to end and cut into as many equal
// stretches as blocks fit on the GPU at once. All of them start and end together, so that the memory idles at the
// beginning and at the end only. A block for each piece of a task would leave it idle at the end of every wave.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define ROOFLINE_HOST_DEVICE __host__ __device__
#else
#define ROOFLINE_HOST_DEVICE
#endif

namespace roofline {

/// The part of one task that lies in a stretch.
struct Piece {
  int task;
  int first;   ///< unit, counted in the task
  int count;   ///< units, 1 or more
  int index;   ///< among the task's pieces
  int pieces;  ///< of the task
};

/// `tasks` of `units` each, in stretches of `least` units, or of one more in the first `longer` blocks.
struct Stretches {
  int tasks = 1;
  int units = 1;
  int blocks = 1;
  int least = 1;
  int longer = 0;

  /// For `blocks` blocks, or for fewer where there are fewer units. Units are 2^31 - 1 at most in all.
  static Stretches cut(std::int64_t tasks, std::int64_t units, std::int64_t blocks) {
    const std::int64_t all = tasks * units;
    if (blocks > all) blocks = all;
    return {static_cast<int>(tasks), static_cast<int>(units), static_cast<int>(blocks), static_cast<int>(all / blocks),
            static_cast<int>(all % blocks)};
  }

  ROOFLINE_HOST_DEVICE int first_unit(int block) const { return block * least + (block < longer ? block : longer); }
  /// The block whose stretch holds a unit of all tasks' units.
  ROOFLINE_HOST_DEVICE int block_of(int unit) const {
    const int in_longer = longer * (least + 1);
    return unit < in_longer ? unit / (least + 1) : longer + (unit - in_longer) / least;
  }
  /// No task has more pieces.
  ROOFLINE_HOST_DEVICE int most_pieces() const { return (units - 1) / least + 2; }

  /// Calls work(piece) for each task that has units in the block's stretch, in their order.
  template <typename Work>
  ROOFLINE_HOST_DEVICE void for_each_piece(int block, Work work) const {
    const int end = first_unit(block + 1);
    for (int unit = first_unit(block); unit < end;) {
      const int task = unit / units;
      const int task_end = (task + 1) * units;
      const int first_block = block_of(task * units);
      const int stop = end < task_end ? end : task_end;
      work(Piece{.task = task,
                 .first = unit - task * units,
                 .count = stop - unit,
                 .index = block - first_block,
                 .pieces = block_of(task_end - 1) - first_block + 1});
      unit = stop;
    }
  }
};

}  // namespace roofline
