// Matches kernels of different ranks into collectives, and splits their time into waiting and transfer. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inject/spool.hpp"
#include "profile/intervals.hpp"

namespace roofline {

/// An NCCL kernel of one rank. Its call is unknown if `communicator` is 0.
struct CollectiveKernel {
  Span span;
  spool::CollectiveKind kind = spool::CollectiveKind::other;
  std::uint64_t communicator = 0;  ///< equal on all of its ranks
  std::uint64_t sequence = 0;      ///< number within the communicator
  std::uint64_t bytes = 0;         ///< larger buffer; 0: unknown
  std::uint32_t ranks = 0;         ///< ranks of the communicator; 0: unknown
  std::uint32_t calls = 0;         ///< calls in its NCCL group; 0: unknown
  bool exchange = false;           ///< sends and receives; numbered like the communicator's collectives
  int group = -1;                  ///< index into Recording::groups
};

/// Activity of one rank's GPU. Spans are sorted and disjoint, collectives sorted by start.
struct RankTimeline {
  std::vector<Span> compute;  ///< kernels other than collectives
  std::vector<Span> copies;   ///< copies and memsets
  std::vector<CollectiveKernel> collectives;
};

struct RankArrival {
  int rank = 0;            ///< index into the timelines
  std::size_t kernel = 0;  ///< index into its collectives
};

/// A collective, or an exchange of sends and receives, with the kernels of all its ranks.
struct MatchedCollective {
  std::vector<RankArrival> arrivals;  ///< sorted by rank
  int last = 0;                       ///< the rank whose kernel starts last
  std::uint64_t start = 0;            ///< start of that kernel: earlier time of the others is waiting
  std::uint64_t end = 0;              ///< end of the kernel that ends last

  /// Time from the last rank's start; for an exchange that one rank ends before that, the rest of the other's time.
  double transfer_s() const { return seconds(end - start); }
};

/// Collectives recorded by all of their ranks, sorted by start. Kernels with known calls are matched by communicator
/// and number, others by time: on one node, kernels of one collective run at the same time. Sends and receives are
/// matched by number if all ranks of a communicator have equally many exchanges: those between two ranks, and
/// all-to-alls. Other point-to-point transfers are left out.
std::vector<MatchedCollective> match_collectives(const std::vector<RankTimeline>& ranks);

/// Kind of an NCCL kernel, by its symbol.
spool::CollectiveKind kind_of_collective(std::string_view symbol);

/// "all_reduce", as in its ceiling.
std::string_view collective_name(spool::CollectiveKind kind);

/// Clock offset of each host to the first one, ns, from the common end times of collectives. `host_of`: host of each
/// rank, starting with 0. 0 for a host without a collective in common with the first.
std::vector<std::int64_t> clock_offsets(const std::vector<RankTimeline>& ranks,
                                        const std::vector<MatchedCollective>& matched, const std::vector<int>& host_of);

}  // namespace roofline
