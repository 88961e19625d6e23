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

/// Causes above their thresholds, as order_causes orders them. `with_threads`: include serial parts and unequal work,
/// which runs with counts report by loop. `peak_bytes`: resident memory of the largest process; 0: unknown.
std::vector<HostCause> host_causes(const HostProfile& host, bool with_threads, double peak_bytes = 0);

/// Causes of a CPU program's report; none if it has a GPU. Loops with counts include serial parts; unequal
/// work of OpenMP threads is added where no loop with counts has it.
std::vector<HostCause> host_causes(const Report& report);

/// True if lock waits are mostly waits for other threads to end.
bool waits_for_threads(const HostProfile& host);

}  // namespace roofline
