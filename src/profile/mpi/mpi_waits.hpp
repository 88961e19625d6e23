// How long each rank of a CPU job waits in MPI, and for which rank. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/mpi/mpi_process.hpp"

namespace roofline {

/// Seconds of one rank between MPI_Init and MPI_Finalize, which the first three add up to.
struct MpiParts {
  double compute_s = 0;      ///< outside MPI
  double waiting_s = 0;      ///< in MPI, until a later rank calls
  double transfer_s = 0;     ///< other time in MPI
  double caused_wait_s = 0;  ///< waiting of all other ranks in collectives that this rank calls last
  double last = 0;           ///< number of collectives that this rank calls last
};

struct MpiWaits {
  std::vector<std::int64_t> offsets;                ///< of the processes' clocks: clock_offsets()
  std::vector<MpiParts> parts;                      ///< by process
  std::vector<std::vector<double>> site_waiting_s;  ///< waiting in collectives, by process and site
  double collectives_s = 0, matched_s = 0;          ///< over all ranks; part matched with all ranks of the communicator
  std::int64_t matched = 0;                         ///< number of matched collectives
};

/// Offsets that convert the clock of each process to that of the first one, from the ends of collectives, which all
/// ranks leave at nearly the same time.
std::vector<std::int64_t> clock_offsets(const std::vector<MpiProcess>& processes);

/// A collective waits until its last rank calls it. For other calls, the time of the rank with the least is transfer,
/// and the excess of the others is waiting.
MpiWaits mpi_waits(const std::vector<MpiProcess>& processes);

}  // namespace roofline
