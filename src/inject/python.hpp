// Where in the program's Python a launch comes from: its line, and the torch module that runs.
#pragma once

#include "inject/session.hpp"

namespace roofline::inject {

/// Looks for an interpreter in the process. To be called again from time to time until it finds one.
void look_for_python(Session& session);

struct PythonOrigin {
  spool::Id line = 0;
  bool own = false;      ///< the line is the program's, not one of a package's
  bool entered = false;  ///< no call of PyTorch's backward pass is between that line and the launch
  spool::Id module = 0;
  spool::Id hook = 0;  ///< first line of a library's communication hook that the thread runs; 0: none
};

/// Origin in the calling thread; empty if it runs no Python.
PythonOrigin python_origin(Session& session);

/// Class name of the autograd node that the calling thread evaluates, if it is a Python class. Costs microseconds.
spool::Id python_node_name(Session& session);

/// Sequence number from Python; 0 if it gives none.
std::uint64_t python_node_sequence();

}  // namespace roofline::inject
