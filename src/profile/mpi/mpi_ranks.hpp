// The ranks of a CPU job under MPI: what the report has of them, and what they lose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/mpi/mpi_process.hpp"
#include "profile/mpi/mpi_waits.hpp"
#include "report/report.hpp"

namespace roofline {

/// What it has of one rank's extra time.
struct MpiExtra {
  HostFrame place;
  double seconds = 0;      ///< that the late rank needs there
  double other_s = 0;      ///< that a typical rank needs there
  HostTimes times, other;  ///< by state
};

/// The ranks that the others wait for.
struct LateMpiRanks {
  std::vector<int> processes;  ///< indices, that with the most computing first
  int typical = 0;             ///< index of the rank with the median of computing
  double saved_s = 0;          ///< of the run, if all ranks had the same computing
  bool steady = true;          ///< false: ranks that are late in turns differ as much by chance
  std::optional<MpiExtra> extra;
};

/// Nothing where ranks differ by less than 3 % of the run, or by no few of them.
std::optional<LateMpiRanks> late_mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// Of two ranks or more.
Ranks mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// What the job loses, the largest first; together at most the mean time in MPI.
std::vector<Saving> mpi_savings(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// Adds both to a report that has no ranks of GPUs. Where a rank was started again, the longer run stays.
void add_mpi_ranks(Report& report, const std::vector<MpiProcess>& recorded);

}  // namespace roofline
