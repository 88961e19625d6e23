// Rank of this process, from the environment set by its launcher: torchrun, mpirun (Open MPI, MPICH and Intel MPI) or
// srun.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace roofline {

struct World {
  int rank = 0;        ///< 0-based number of this process
  int size = 1;        ///< number of processes
  int local_rank = 0;  ///< among those of this node
  std::string launcher;
  std::string
      job;  ///< letters, digits, '-' and '.': the same for all processes of a start, and no other start's if known
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char*)>;

/// std::nullopt without a launcher. If there are several (mpirun under Slurm), the one that started this process
/// directly. Throws UsageError for invalid or contradictory numbers.
std::optional<World> world_of(const Environment& environment);

}  // namespace roofline
