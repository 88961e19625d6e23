// Ranks of a CPU job under MPI: their part of the report, and their potential savings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/mpi/mpi_process.hpp"
#include "profile/mpi/mpi_waits.hpp"
#include "report/report.hpp"

namespace roofline {

/// Extra time of one rank at one place.
struct MpiExtra {
  HostFrame place;
  double seconds = 0;      ///< time of the late rank there
  double other_s = 0;      ///< time of a typical rank there
  HostTimes times, other;  ///< by state
};

/// Ranks that the others wait for.
struct LateMpiRanks {
  std::vector<int> processes;  ///< indices, most computation first
  int typical = 0;             ///< index of the rank with the median computation
  double saved_s = 0;          ///< run time saved if all ranks computed equally long
  bool steady = true;          ///< false: the difference could be chance, because different ranks are late in turn
  std::optional<MpiExtra> extra;
};

/// std::nullopt if ranks differ by less than 3 % of the run, or many of them are late.
std::optional<LateMpiRanks> late_mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// Requires at least two ranks.
Ranks mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// Potential savings of the job, largest first; together at most the mean time in MPI.
std::vector<Saving> mpi_savings(const std::vector<MpiProcess>& processes, const MpiWaits& waits);

/// Adds both to a report without GPU ranks. If a rank was restarted, the longer run is kept.
void add_mpi_ranks(Report& report, const std::vector<MpiProcess>& recorded);

}  // namespace roofline
