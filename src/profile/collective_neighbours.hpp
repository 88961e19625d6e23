// The kernels before and after collectives, which show what is sent without need.
#pragma once

#include <map>
#include <vector>

#include "profile/ranks.hpp"

namespace roofline {

/// Of the bytes of all collectives of one kind in the steps; 0 where the bytes are not known.
struct CollectiveNeighbours {
  /// Share that is converted to single precision just before, and converted back just after.
  double widened = 0;
  /// Share of data, not sums, that is converted to single precision just before, or from it just after.
  double used_narrow = 0;
  /// Share that the next kernel, which reads rows by their indices, does not read, as counted or by its time.
  double unread = 0;
  /// Share of data that a kernel soon after it reduces to a fourth or less, or that one soon before it has expanded by
  /// as much, as counted: the rank that had the data could have reduced them.
  double reducible = 0;
  /// Share that is zeros of gradients of embeddings: filled just before, and not written again, as counted.
  double zeros = 0;
  int table = -1;  ///< group of the kernel that writes such gradients; -1: none
};

/// Attention kernels of all ranks in the steps, and those whose queries, keys and values were all gathered just before.
struct GatheredHeads {
  double attentions = 0, gathered = 0;
  std::map<int, double> rows = {};  ///< seconds of gathered ones by group

  void add(const Activity& attention, bool gathers);
  double gathered_s() const;
  bool nearly_all() const { return attentions > 0 && gathered >= 0.9 * attentions; }
};

GatheredHeads gathered_heads(const Job& job, const Recording& recording, const std::vector<Span>& steps);

CollectiveNeighbours collective_neighbours(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                           spool::CollectiveKind kind, const Machine& machine);

}  // namespace roofline
