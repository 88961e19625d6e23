// The ranks of a job: several processes, or GPUs of one process, that run collectives together.
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
  int rank = 0;     ///< by its launcher; without one by the order of devices and processes
  int process = 0;  ///< index into the traces
  int device = 0;   ///< index into Recording::devices; -1: of a rank that is known in parts only
};

struct Job {
  std::vector<JobRank> ranks;               ///< by rank
  std::vector<const ProcessTrace*> traces;  ///< of each of them
  std::vector<RankTimeline> timelines;      ///< of each of them
  std::vector<MatchedCollective> matched;
  RankMatching matching = RankMatching::times;

  const CollectiveKernel& kernel(const RankArrival& arrival) const {
    return timelines[static_cast<std::size_t>(arrival.rank)].collectives[arrival.kernel];
  }
  /// By the first rank whose call is known; 0: of none.
  double bytes(const MatchedCollective& collective) const;
};

/// Which of the recording's groups are collectives, and whether an activity is of one of those.
std::vector<bool> collective_groups(const Recording& recording);
bool is_of_collectives(const Activity& activity, const std::vector<bool>& groups);

/// Processes that ran collectives, where at least two did: their steps depend on each other.
std::vector<int> processes_with_collectives(const Recording& recording);

/// Nothing where fewer than two ranks ran collectives.
std::optional<Job> job_of(const Recording& recording);

/// What the launch signatures of each rank cost in the steps.
std::vector<RankWork> rank_work(const Job& job, const Recording& recording, const std::vector<Span>& steps);

/// The rows of collectives get the work of their calls, and the transfer as their time. `points` are the recording's
/// groups in their order.
void add_collective_roofs(const Job& job, const Machine& machine, std::vector<Point>& points);

/// The collectives' parts of the steps' bars. `rows`: times within the steps.
void add_rank_parts(const Job& job, const RankSteps& steps, const Recording& recording, const RowTimes& rows,
                    const std::vector<Point>& points, Steps& to);

/// What the report has of the ranks.
Ranks ranks_report(const Job& job, const RankSteps& steps, const Recording& recording, const std::vector<Span>& spans,
                   const Machine& machine);

}  // namespace roofline
