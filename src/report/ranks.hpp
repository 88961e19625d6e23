// The processes of one job: what the time of a step is on each rank, and its collectives. Plain data. Times are means
// per steady step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// One rank's mean step. Its first five parts add up to the step.
struct RankSum {
  int rank = 0;
  std::int64_t pid = 0;
  std::string host;          ///< empty: not known
  int device = -1;           ///< as Profile::devices has it; -1: it used none
  double compute_s = 0;      ///< kernels that are no collectives
  double waiting_s = 0;      ///< of the rest, collectives that wait for a later rank
  double transfer_s = 0;     ///< of the rest, collectives that transfer, or were not matched with other ranks
  double copies_s = 0;       ///< of the rest, copies and memsets
  double idle_s = 0;         ///< nothing runs
  double overlapped_s = 0;   ///< collectives during other kernels: part of compute_s
  double caused_wait_s = 0;  ///< that every other rank waits for this one
  double last_share = 0;     ///< of the steps: this rank arrives last where most time is waited for
};

/// Collectives of one kind, size and number of ranks.
struct CollectiveSum {
  std::string name;                ///< "all_reduce"
  int ranks = 0;                   ///< that work together
  double bytes = 0;                ///< of one: the larger buffer of a rank, as nccl-tests has it; 0: not known
  double calls = 0;                ///< of a rank per step
  double waiting_s = 0;            ///< of a rank per step: exposed
  double exposed_s = 0;            ///< of a rank per step: transfer that no other kernel overlaps
  double transfer_s = 0;           ///< of one: median, from the last rank's start to its end
  std::string line;                ///< "train.py:31 main"; empty: not known
  std::string roof;                ///< its limiting roof; empty: none was measured
  double attainable_s = 0;         ///< of one, at that roof
  double bus_bytes_per_s() const;  ///< of the transfer; 0 where bytes are not known
};

/// How collectives of different ranks were matched: by the numbers of their calls, or by the times of their kernels.
enum class RankMatching : std::uint8_t { calls, times };
std::string_view to_string(RankMatching matching);  ///< "calls"
std::optional<RankMatching> parse_rank_matching(std::string_view text);

struct Ranks {
  std::string launcher;  ///< "torchrun"; empty: not known
  int size = 0;          ///< ranks of the job, also of those that were not recorded
  /// Times are of the run and not of a step: CPU ranks under MPI, between MPI_Init and MPI_Finalize. Waiting and
  /// transfer are time in MPI then, compute is all other time, and `collectives` has all functions of MPI.
  bool whole_run = false;
  RankMatching matching = RankMatching::times;
  double step_s = 0;
  double matched_share = 0;  ///< of the time of collectives in steps: matched with all other ranks
  std::vector<RankSum> ranks;
  std::vector<CollectiveSum> collectives;  ///< the most waiting and exposed time first

  /// The mean of the ranks.
  double mean(double RankSum::*part) const;
  /// The part of a step that is compute: what is lost otherwise is the cost of running on several GPUs, and idle time.
  double efficiency() const;
};

}  // namespace roofline
