// What a suite's own kernels ask of an analysis besides what all ops do.
#pragma once

#include <functional>
#include <string>

#include "config/suite.hpp"
#include "report/report.hpp"

namespace roofline {

/// Compiles the kernels of a suite for a device of that architecture (DeviceInfo::isa), several at a time. What does
/// not compile becomes a failed row of `analyze`, with the compiler's words. `progress` hears how many are done.
void compile_own_kernels(const Suite& suite, const std::string& architecture,
                         const std::function<void(std::size_t done)>& progress);

/// Rows of kernels that don't state their operations get those that were counted, and a bound by them. Rows are those
/// of the suite's entries, in their order.
void take_counted_work(const Suite& suite, Report& report);

/// Of configurations among which the suite chooses, keeps the fastest for each shape, and those that failed; a note
/// says by how much. Rows are those of the suite's entries, in their order, and are no longer so afterwards.
void keep_fastest(const Suite& suite, Report& report);

}  // namespace roofline
