// What the time of steps is on each rank of a job, and which rank the others wait for. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profile/collectives.hpp"

namespace roofline {

/// Seconds of one rank in all steps; the first five add up to them.
struct RankParts {
  double compute_s = 0, waiting_s = 0, transfer_s = 0, copies_s = 0, idle_s = 0;
  double overlapped_s = 0;  ///< collectives while other kernels run
};

struct RankSteps {
  std::vector<double> step_s;    ///< of each step
  std::vector<RankParts> parts;  ///< by rank
  /// By rank and step: seconds of waiting for that rank without other kernels, the mean over the ranks that waited.
  std::vector<std::vector<float>> late;
  /// The sum over the ranks that waited.
  std::vector<std::vector<float>> waited;
  double collectives_s = 0, matched_s = 0;  ///< kernels of collectives, of all ranks

  double total_s() const;   ///< of the steps
  double late_s() const;    ///< sums over ranks and steps
  double waited_s() const;  ///< likewise
};

/// `steps` are sorted and disjoint.
RankSteps rank_steps(const std::vector<RankTimeline>& ranks, const std::vector<MatchedCollective>& matched,
                     const std::vector<Span>& steps);

/// Ranks that the others wait for, in step after step: by their number few, and no matter of chance.
struct LateRanks {
  std::vector<int> ranks;    ///< indices, the latest first
  double waited_s = 0;       ///< by all other ranks together, in all steps, beyond what they wait for any rank
  double late_s = 0;         ///< by each other rank, likewise
  std::int64_t steps = 0;    ///< in which most of the waiting is for them
  std::int64_t waiting = 0;  ///< steps in which ranks wait noticeably
  bool seldom = false;       ///< those steps may be a matter of chance: another reason must show that they are late
};

/// Nothing where ranks wait less than 3 % of the steps for them, or for one after the other.
std::optional<LateRanks> find_late_ranks(const RankSteps& steps);

/// Those, or ranks that nearly all waiting is for, in at least two steps: `seldom` ones.
std::optional<LateRanks> possible_late_ranks(const RankSteps& steps);

/// Launches and seconds of one rank by launch signature, of kernels that are no collectives.
struct SignatureWork {
  double launches = 0, seconds = 0;
};
using RankWork = std::map<int, SignatureWork>;

enum class LateReason : std::uint8_t {
  host,
  slow_gpu,       ///< the same kernels take longer
  unequal_work,   ///< its kernels take longer, because they do more
  more_launches,  ///< its host takes longer, because it launches more
  copies          ///< its copies take longer
};

struct LateCause {
  LateReason reason = LateReason::host;
  int rank = 0, other = 0;            ///< indices: the late rank, and a typical one
  double compute_s = 0, other_s = 0;  ///< of their kernels, in all steps
  double slower = 1;                  ///< the same launches take that much longer
  double launches = 0, other_launches = 0;
};

/// The rank in the middle of those that are not late, by the time of its kernels; where `work` has some ranks' only, of
/// these.
int typical_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work = {});

/// Why the first of them is late: its kernels take longer, it has more of them, or else its host.
LateCause cause_of_late_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work);

}  // namespace roofline
