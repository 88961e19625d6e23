// Autograd's state in a thread, from PyTorch's C++ library without Python.
#pragma once

#include "inject/session.hpp"
#include "inject/thread_state.hpp"

namespace roofline::inject {

/// Looks for PyTorch in the process. To be called again from time to time until it finds it.
void look_for_torch();

/// Completes the origin of a launch: backward ones get the line and the module of their forward. `own_line`: the line
/// is in the program's own code.
void add_autograd(Session& session, ThreadState& thread, bool own_line, spool::Place& origin);

}  // namespace roofline::inject
