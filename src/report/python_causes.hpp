// Causes of lost time in Python programs, from stack samples: what the program's lines call libraries for, interpreted
// code, the interpreter's lock, and objects that processes send each other.
#pragma once

#include <vector>

#include "report/host_causes.hpp"
#include "report/host_profile.hpp"

namespace roofline {

struct PythonCauses {
  std::vector<HostCause> causes;
  std::vector<bool> claimed;  ///< by stack of the profile: a cause has its CPU time
  double sent_s = 0;          ///< CPU time of sending objects to other processes, if that is a cause
  bool waits_for_gil = false;
};
PythonCauses python_causes(const HostProfile& host);

}  // namespace roofline
