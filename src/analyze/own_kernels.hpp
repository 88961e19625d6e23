// Additional steps of an analysis for kernels defined in a suite.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/suite.hpp"
#include "report/report.hpp"

namespace roofline {

/// Compiles the kernels of a suite for a device of that architecture (DeviceInfo::isa), several at a time. A kernel
/// that does not compile becomes a failed row of `analyze` with the compiler's message. `progress` receives the
/// number of finished ones.
void compile_own_kernels(const Suite& suite, const std::string& architecture,
                         const std::function<void(std::size_t done)>& progress);

/// Sets the counted operations, and a bound from them, for rows of kernels that do not state their operations. Rows
/// must be those of the suite's entries, in order.
void take_counted_work(const Suite& suite, Report& report);

/// Sets the FLOPs of a row, and a bound from them.
void take_flops(Point& point, std::map<Pipe, double> flops, const Machine& machine);

/// For each row, whether another configuration of its kernel at the same shape was faster. Rows must be those of the
/// suite's entries, in order.
std::vector<bool> slower_configurations(const Suite& suite, const Report& report);

/// Among configurations, keeps the fastest for each shape, with the times of the others (Point::tried), and failed
/// ones; a note states the difference. Rows must be those of the suite's entries, in order, and no longer are
/// afterwards.
void keep_fastest(const Suite& suite, Report& report);

}  // namespace roofline
