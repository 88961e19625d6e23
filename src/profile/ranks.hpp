// The ranks of a job: processes, or GPUs of one process, that run collectives together.
#pragma once

#include <optional>
#include <vector>

#include "model/machine.hpp"
#include "profile/collectives.hpp"
#include "profile/rank_steps.hpp"
#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/steps.hpp"
#include "report/ranks.hpp"
#include "report/report.hpp"

namespace roofline {

struct JobRank {
  int rank = 0;     ///< from the launcher, else by the order of devices and processes
  int process = 0;  ///< index into the traces
  int device = 0;   ///< index into Recording::devices; -1: a rank known in part only
};

struct Job {
  std::vector<JobRank> ranks;               ///< sorted by rank
  std::vector<const ProcessTrace*> traces;  ///< one per rank
  std::vector<RankTimeline> timelines;      ///< one per rank
  std::vector<MatchedCollective> matched;
  RankMatching matching = RankMatching::times;

  const CollectiveKernel& kernel(const RankArrival& arrival) const {
    return timelines[static_cast<std::size_t>(arrival.rank)].collectives[arrival.kernel];
  }
  /// From the first rank whose call is known; 0: none.
  double bytes(const MatchedCollective& collective) const;
};

/// Identifies the groups of a recording that are collectives, and their activities.
std::vector<bool> collective_groups(const Recording& recording);
bool is_of_collectives(const Activity& activity, const std::vector<bool>& groups);

/// Processes that ran collectives, if there are at least two: their steps depend on each other.
std::vector<int> processes_with_collectives(const Recording& recording);

/// std::nullopt if fewer than two ranks ran collectives.
std::optional<Job> job_of(const Recording& recording);

/// Cost of each rank's launch signatures in the steps.
std::vector<RankWork> rank_work(const Job& job, const Recording& recording, const std::vector<Span>& steps);

/// Sets the work of collective rows from their calls, and their time to the transfer. `points` are the recording's
/// groups in order.
void add_collective_roofs(const Job& job, const Machine& machine, std::vector<Point>& points);

/// Adds the parts of collectives to the wall time of the steps. `rows`: times within the steps.
void add_rank_parts(const Job& job, const RankSteps& steps, const Recording& recording, const RowTimes& rows,
                    const std::vector<Point>& points, Steps& to);

/// The ranks for the report.
Ranks ranks_report(const Job& job, const RankSteps& steps, const Recording& recording, const std::vector<Span>& spans,
                   const Machine& machine);

}  // namespace roofline
