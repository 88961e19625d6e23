// How much our own documents may hold.
#pragma once

#include <cstddef>

#include "host/files.hpp"

namespace roofline {

/// Of one machine 0.2 MB are usual, of eight GPUs 2 MB, and a fleet's reports of thousands of rows have 30 MB; a row of
/// a report has some 3 KB, and 0.4 MB with its samples.
inline constexpr FileLimit kMachineLimit{std::uint64_t{64} << 20, "a machine file"};
inline constexpr FileLimit kReportLimit{std::uint64_t{1} << 30, "a report"};
/// Rows of a recording's report, so that kReportLimit holds them with names and samples of any usual length (64 KB
/// each).
inline constexpr std::size_t kReportRows = kReportLimit.bytes >> 16;

}  // namespace roofline
