// Autograd's state in a thread, from PyTorch's C++ library without Python.
#pragma once

#include "inject/python.hpp"
#include "inject/session.hpp"
#include "inject/thread_state.hpp"

namespace roofline::inject {

/// Looks for PyTorch in the process. To be called again from time to time until it finds it.
void look_for_torch();

/// Completes the origin of a launch: backward ones get the line and the module of their forward, except those that the
/// program's own code launches there.
void add_autograd(Session& session, ThreadState& thread, const PythonOrigin& python, spool::Place& origin);

}  // namespace roofline::inject
