// Causes from instructions with a long latency in the program's hot loops. Pure.
#pragma once

#include <vector>

#include "report/host_causes.hpp"

namespace roofline {

/// `cpu_s`: CPU time of the program. No two are about one loop.
std::vector<HostCause> slow_code_causes(const HostProfile& host, double cpu_s);

}  // namespace roofline
