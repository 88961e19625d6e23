// The environment's variables that set how NCCL transfers data.
#pragma once

namespace roofline::inject {

struct Session;

/// Writes those that are set. Called after NCCL has made a communicator: it has added those of its configuration files
/// to the environment by then.
void write_nccl_variables(Session& session);

}  // namespace roofline::inject
