// What a program's threads lose time to, by the samples of their stacks: allocation of memory, copies, locks, a thread
// that works alone, the kernel. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/host_profile.hpp"

namespace roofline {

/// What a library function does for the program that calls it.
enum class FunctionPurpose : std::uint8_t { none, allocation, copy, text, mathematics, mutex, condition, join };
FunctionPurpose purpose_of(const HostFrame& frame);

struct HostCause {
  std::string id;      ///< "allocation"
  double seconds = 0;  ///< potential saving: of CPU time, or of wall time for threads that wait
  std::string text;    ///< with its line
  std::string action;
  std::string line;
};

/// Causes that take enough time to be named, the largest first. `with_threads`: also a serial part and unequal work,
/// which a run with counts finds by loop. `peak_bytes`: resident memory of the largest process; 0: not known.
std::vector<HostCause> host_causes(const HostProfile& host, bool with_threads, double peak_bytes = 0);

/// Whether a thread that waits for a lock mostly waits for the end of others.
bool waits_for_threads(const HostProfile& host);

}  // namespace roofline
