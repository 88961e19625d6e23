// Loads that cannot be served by store forwarding, found in a compiler's assembly: they read bytes that narrower, or
// partly overlapping, stores of the same block have just written, so that they wait until those are in the cache.
#pragma once

#include <string>

namespace roofline {

/// The assembly with each such load reading other memory (64 zeros): its results are wrong, its time shows the cost of
/// the loads. Empty if there is none, and for anything but x86-64 in AT&T syntax.
std::string without_failed_forwards(const std::string& assembly);

}  // namespace roofline
