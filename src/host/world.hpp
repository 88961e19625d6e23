// Which of several processes this one is, by the environment that their launcher gave them: torchrun, mpirun (Open MPI,
// MPICH and Intel MPI) or srun.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace roofline {

struct World {
  int rank = 0;        ///< from 0; this process's number among all
  int size = 1;        ///< of all processes
  int local_rank = 0;  ///< among those of this node
  std::string launcher;
  std::string
      job;  ///< letters, digits, '-' and '.': the same for all processes of a start, and no other start's if known
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char*)>;

/// Nothing where no launcher has started this process. Where several might have (mpirun under Slurm), the one that
/// started it directly. Throws UsageError for numbers that are none or don't fit together.
std::optional<World> world_of(const Environment& environment);

}  // namespace roofline
