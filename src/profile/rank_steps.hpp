// Step time on each rank of a job, and the rank that the others wait for. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profile/collectives.hpp"

namespace roofline {

/// Bytes up to which the time of a collective is mostly latency.
inline constexpr std::uint64_t kLatencyBound = 1 << 20;

/// Seconds of one rank over all steps, which the first five add up to.
struct RankParts {
  double compute_s = 0, waiting_s = 0, transfer_s = 0, copies_s = 0, idle_s = 0;
  double overlapped_s = 0;  ///< collectives while other kernels run
};

struct RankSteps {
  std::vector<double> step_s;    ///< length of each step
  std::vector<RankParts> parts;  ///< by rank
  /// By rank and step: seconds of waiting for that rank while no other kernel runs, averaged over the waiting ranks.
  std::vector<std::vector<float>> late;
  /// Sum over the waiting ranks.
  std::vector<std::vector<float>> waited;
  /// Part of all of `late` for which the late rank computes longer than the others since the collective before.
  double late_by_compute_s = 0;
  /// Sum over steps and ranks: kernel time that a rank has less of than the one with most. They would wait for that if
  /// they met once per step.
  double unequal_s = 0;
  double collectives_s = 0, matched_s = 0;  ///< kernels of collectives, over all ranks

  double total_s() const;   ///< all steps
  double late_s() const;    ///< sums over ranks and steps
  double waited_s() const;  ///< sums over ranks and steps
};

/// `steps` are sorted and disjoint.
RankSteps rank_steps(const std::vector<RankTimeline>& ranks, const std::vector<MatchedCollective>& matched,
                     const std::vector<Span>& steps);

/// Few ranks that the others wait for repeatedly, beyond chance.
struct LateRanks {
  std::vector<int> ranks;    ///< indices, latest first
  double waited_s = 0;       ///< waiting of all other ranks in all steps, beyond the waiting for any rank
  double late_s = 0;         ///< waiting of each other rank, beyond the waiting for any rank
  std::int64_t steps = 0;    ///< steps in which most of the waiting is for them
  std::int64_t waiting = 0;  ///< steps with noticeable waiting
  bool seldom = false;       ///< these steps may be chance: a cause must confirm that the ranks are late
};

/// std::nullopt if waiting for them is less than 3 % of the steps, or alternates between ranks.
std::optional<LateRanks> find_late_ranks(const RankSteps& steps);

/// The same, or ranks that cause nearly all waiting in at least two steps (`seldom`).
std::optional<LateRanks> possible_late_ranks(const RankSteps& steps);

/// Launches and seconds of one rank by launch signature, without collectives.
struct SignatureWork {
  double launches = 0, seconds = 0;
};
using RankWork = std::map<int, SignatureWork>;

enum class LateReason : std::uint8_t {
  host,
  slow_gpu,       ///< the same kernels take longer
  unequal_work,   ///< its kernels take longer because they do more
  more_launches,  ///< its host takes longer because it launches more
  copies          ///< its copies take longer
};

struct LateCause {
  LateReason reason = LateReason::host;
  int rank = 0, other = 0;            ///< indices: the late rank, and a typical one
  double compute_s = 0, other_s = 0;  ///< kernel time in all steps
  double slower = 1;                  ///< factor by which the same launches are slower
  double launches = 0, other_launches = 0;
};

/// The median rank by kernel time among those that are not late; restricted to the ranks in `work` if it has only some.
int typical_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work = {});

/// Why the first of them is late: slower kernels, more kernels, or else its host.
LateCause cause_of_late_rank(const RankSteps& steps, const LateRanks& late, const std::vector<RankWork>& work);

}  // namespace roofline
