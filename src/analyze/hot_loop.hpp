// The loop of a suite's C or C++ kernel that takes most of its time, and why it is not vectorised.
#pragma once

#include <string>

#include "config/suite.hpp"
#include "device/device.hpp"

namespace roofline {

/// Runs the kernel for a tenth of a second. The compiler's reason after its place, as in "scale.c:4: control flow in
/// loop."; empty if it gives none.
std::string why_not_vectorized(const SuiteEntry& entry, const Workload& workload, Device& device);

}  // namespace roofline
