// Loads that cannot be served by store forwarding, found in a compiler's assembly: they read bytes that narrower, or
// partly overlapping, stores of the same block have just written, so that they wait until those are in the cache.
#pragma once

#include <string>

namespace roofline {

/// The assembly with each such load reading other memory instead (64 zeros). What it computes is wrong, and how fast it
/// is shows what the loads cost. Empty if there is none. x86-64 in the syntax of AT&T; on other text empty.
std::string without_failed_forwards(const std::string& assembly);

}  // namespace roofline
