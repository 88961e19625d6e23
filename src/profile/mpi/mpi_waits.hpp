// How long each rank of a CPU job waits for the others in MPI, and for whom. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/mpi/mpi_process.hpp"

namespace roofline {

/// Seconds of one rank between MPI_Init and MPI_Finalize; the first three add up to them.
struct MpiParts {
  double compute_s = 0;      ///< outside of MPI
  double waiting_s = 0;      ///< in MPI, until a later rank calls
  double transfer_s = 0;     ///< the rest of MPI
  double caused_wait_s = 0;  ///< by all other ranks together, in collectives that this rank is the last to call
  double last = 0;           ///< collectives that this rank is the last to call
};

struct MpiWaits {
  std::vector<MpiParts> parts;                      ///< by process
  std::vector<std::vector<double>> site_waiting_s;  ///< by process and site: in its collectives
  double collectives_s = 0, matched_s = 0;          ///< of all ranks; matched with all ranks of the communicator
  std::int64_t matched = 0;                         ///< collectives
};

/// What is added to the times of each process to have those of the first one: nodes have clocks of their own. Known by
/// the ends of collectives, which all ranks leave at nearly the same time.
std::vector<std::int64_t> clock_offsets(const std::vector<MpiProcess>& processes);

/// A collective waits until the last of its ranks calls it. Of calls that are no blocking collectives, what the rank
/// with the least time in them needs is transfer, and what others need beyond it is waiting.
MpiWaits mpi_waits(const std::vector<MpiProcess>& processes);

}  // namespace roofline
