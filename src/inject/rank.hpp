// Which process of a job this is.
#pragma once

#include <cstdint>

namespace roofline::inject {

struct Session;

/// This process among those of its job on this node; one of one if unknown.
struct RankOnNode {
  std::uint32_t rank = 0, ranks = 1;
};
RankOnNode rank_on_node();

/// Writes the rank's record if a launcher (torchrun, mpirun, srun) started this process.
void write_rank(Session& session);

}  // namespace roofline::inject
