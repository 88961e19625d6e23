// Loops in which a thread reads a variable until another thread changes it.
#pragma once

#include <optional>

#include "report/host_causes.hpp"

namespace roofline {

/// By the text of the program's lines; none in a program with one thread, or below a fifth of the CPU time.
std::optional<HostCause> busy_waiting(const HostProfile& host);

}  // namespace roofline
