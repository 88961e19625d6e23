// Which process of a job this is.
#pragma once

#include "inject/session.hpp"

namespace roofline::inject {

/// Writes the record of the rank, where a launcher (torchrun, mpirun, srun) started this process.
void write_rank(Session& session);

}  // namespace roofline::inject
