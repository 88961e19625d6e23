// The kernels before and after collectives, which show what is sent without need.
#pragma once

#include <vector>

#include "profile/ranks.hpp"

namespace roofline {

/// Of the bytes of all collectives of one kind in the steps; 0 where the bytes are not known.
struct CollectiveNeighbours {
  /// Share that is converted to single precision just before, and converted back just after.
  double widened = 0;
  /// Share that the next kernel, which reads rows by their indices, does not read, as counted or by its time.
  double unread = 0;
};

CollectiveNeighbours collective_neighbours(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                           spool::CollectiveKind kind, const Machine& machine);

}  // namespace roofline
