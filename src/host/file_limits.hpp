// How much our own documents may hold.
#pragma once

#include "host/files.hpp"

namespace roofline {

/// Of one machine 0.2 MB are usual, of eight GPUs 2 MB, and a fleet's reports of thousands of rows have 30 MB; a row of
/// a report has some 3 KB, and 0.4 MB with its samples.
inline constexpr FileLimit kMachineLimit{std::uint64_t{64} << 20, "a machine file"};
inline constexpr FileLimit kReportLimit{std::uint64_t{1} << 30, "a report"};

}  // namespace roofline
