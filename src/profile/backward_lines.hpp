// The program's lines that run backward passes. What hooks launch there, such as collectives of gradients, is recorded
// with lines of the forward pass.
#pragma once

#include <string>
#include <vector>

#include "profile/recording.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// For Recording::backward_lines: of each process the line at which most samples of its main thread are in a backward
/// pass.
std::vector<std::string> backward_lines(const Recording& recording, const HostSamples& samples);

}  // namespace roofline
