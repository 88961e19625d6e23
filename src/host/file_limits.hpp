// Size limits of our own documents.
#pragma once

#include <cstddef>

#include "host/files.hpp"

namespace roofline {

/// Typical sizes: 0.2 MB for one machine, 2 MB for eight GPUs, 30 MB for a fleet's reports of thousands of rows. A row
/// of a report has about 3 KB, or 0.4 MB with its samples.
inline constexpr FileLimit kMachineLimit{std::uint64_t{64} << 20, "a machine file"};
inline constexpr FileLimit kReportLimit{std::uint64_t{1} << 30, "a report"};
/// Rows of a recording's report, so that kReportLimit holds them with names and samples of any usual length (64 KB
/// each).
inline constexpr std::size_t kReportRows = kReportLimit.bytes >> 16;

}  // namespace roofline
