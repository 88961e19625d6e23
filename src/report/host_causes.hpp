// Causes of lost host time, from stack samples: memory allocation, copies, locks, serial parts, the kernel. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/host_profile.hpp"
#include "report/report.hpp"

namespace roofline {

struct HostCause {
  std::string id;      ///< "allocation"
  double seconds = 0;  ///< potential saving: CPU time, or wall time for waiting threads
  std::string text;    ///< including the line
  std::string action;
  std::string line;
};

/// Causes above their thresholds, largest first. `with_threads`: include serial parts and unequal work, which runs with
/// counts report by loop. `peak_bytes`: resident memory of the largest process; 0: unknown.
std::vector<HostCause> host_causes(const HostProfile& host, bool with_threads, double peak_bytes = 0);

/// Those of a CPU program's report; none of one with a GPU. Loops with counts have serial parts and unequal work.
std::vector<HostCause> host_causes(const Report& report);

/// Whether a thread that waits for a lock mostly waits for the end of others.
bool waits_for_threads(const HostProfile& host);

}  // namespace roofline
