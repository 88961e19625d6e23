// The processes of one job: step time per rank, and collectives. Plain data. Times are means per steady step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// Mean step of one rank. The first five parts add up to the step.
struct RankSum {
  int rank = 0;
  std::int64_t pid = 0;
  std::string host;          ///< empty: unknown
  int device = -1;           ///< index into Profile::devices; -1: no GPU
  double compute_s = 0;      ///< kernels other than collectives
  double waiting_s = 0;      ///< collectives that wait for a later rank, while no other kernel runs
  double transfer_s = 0;     ///< collectives that transfer or are unmatched, while no other kernel runs
  double copies_s = 0;       ///< copies and memsets while no kernel runs
  double idle_s = 0;         ///< GPU idle
  double overlapped_s = 0;   ///< collectives during other kernels: part of compute_s
  double caused_wait_s = 0;  ///< time that each other rank waits for this one
  double last_share = 0;     ///< fraction of the steps in which most of the waiting is for this rank
};

/// Collectives with the same kind, size and number of ranks.
struct CollectiveSum {
  std::string name;                ///< "all_reduce"
  int ranks = 0;                   ///< participating ranks
  double bytes = 0;                ///< size of a rank's larger buffer, as in nccl-tests; 0: unknown
  double calls = 0;                ///< per rank and step
  double waiting_s = 0;            ///< per rank and step, while no other kernel runs
  double exposed_s = 0;            ///< per rank and step: transfer without overlapping kernels
  double transfer_s = 0;           ///< median time of one, from the last rank's start to its end
  std::string line;                ///< "train.py:31 main"; empty: unknown
  std::string roof;                ///< limiting roof; empty: not measured
  double attainable_s = 0;         ///< time of one at that roof
  double bus_bytes_per_s() const;  ///< bus bandwidth of the transfer; 0 if the size is unknown
};

/// How collectives of different ranks were matched: by call numbers, or by kernel times.
enum class RankMatching : std::uint8_t { calls, times };
std::string_view to_string(RankMatching matching);  ///< "calls"
std::optional<RankMatching> parse_rank_matching(std::string_view text);

struct Ranks {
  std::string launcher;  ///< "torchrun"; empty: unknown
  int size = 0;          ///< ranks of the job, including those not recorded
  /// Times cover the whole run instead of a step: CPU ranks under MPI, between MPI_Init and MPI_Finalize. Waiting and
  /// transfer are then time in MPI, compute is all other time, and `collectives` lists all MPI functions.
  bool whole_run = false;
  RankMatching matching = RankMatching::times;
  double step_s = 0;
  double matched_share = 0;  ///< fraction of the collectives' time in steps that was matched with all ranks
  std::vector<RankSum> ranks;
  std::vector<CollectiveSum> collectives;  ///< largest waiting plus exposed time first

  /// Mean over the ranks.
  double mean(double RankSum::*part) const;
  /// Compute fraction of a step; the rest is the cost of several GPUs, and idle time.
  double efficiency() const;
};

}  // namespace roofline
