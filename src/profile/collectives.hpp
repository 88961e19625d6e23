// Which kernels of different ranks are one collective, and what of their time is waiting for the last rank. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inject/spool.hpp"
#include "profile/intervals.hpp"

namespace roofline {

/// A kernel of NCCL on one rank. Its call is not known where `communicator` is 0.
struct CollectiveKernel {
  Span span;
  spool::CollectiveKind kind = spool::CollectiveKind::other;
  std::uint64_t communicator = 0;  ///< the same on all of its ranks
  std::uint64_t sequence = 0;      ///< in the communicator
  std::uint64_t bytes = 0;         ///< of the larger buffer; 0: not known
  std::uint32_t ranks = 0;         ///< of the communicator; 0: not known
  std::uint32_t calls = 0;         ///< of the group that it does; 0: not known
  bool exchange = false;           ///< sends and receives: it has a number among those of the communicator
  int group = -1;                  ///< index into Recording::groups
};

/// What one rank's GPU did. Spans are sorted and disjoint, collectives by start.
struct RankTimeline {
  std::vector<Span> compute;  ///< kernels that are no collectives
  std::vector<Span> copies;   ///< copies and memsets
  std::vector<CollectiveKernel> collectives;
};

struct RankArrival {
  int rank = 0;            ///< index into the timelines
  std::size_t kernel = 0;  ///< index into its collectives
};

/// A collective, or an exchange of sends and receives, with the kernels of all its ranks.
struct MatchedCollective {
  std::vector<RankArrival> arrivals;  ///< by rank
  int last = 0;                       ///< the rank whose kernel starts last
  std::uint64_t start = 0;            ///< of that kernel: what others ran before is waiting
  std::uint64_t end = 0;              ///< of the kernel that ends last

  /// From its last rank's start on; of an exchange that one rank ends before that, what is left of the other.
  double transfer_s() const { return seconds(end - start); }
};

/// Those that all of their ranks recorded, by start. Kernels whose calls are known are matched by communicator and
/// number; others by time: on one node, the kernels of one collective run at the same time. Sends and receives are
/// matched by number where all ranks of a communicator have equally many exchanges: those of two ranks, and
/// all-to-alls; other point-to-point transfers are left out.
std::vector<MatchedCollective> match_collectives(const std::vector<RankTimeline>& ranks);

/// The kind of an NCCL kernel by its symbol.
spool::CollectiveKind kind_of_collective(std::string_view symbol);

/// "all_reduce", as its ceiling has it.
std::string_view collective_name(spool::CollectiveKind kind);

/// How much later the clock of each host is than that of the first one, ns: collectives end on all ranks at the same
/// time. `host_of`: by rank, from 0 on. 0 for a host without a collective in common with the first.
std::vector<std::int64_t> clock_offsets(const std::vector<RankTimeline>& ranks,
                                        const std::vector<MatchedCollective>& matched, const std::vector<int>& host_of);

}  // namespace roofline
