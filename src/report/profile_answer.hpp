// The summary of a report: wall time, the time of the same work at the roofs, and the parts of the rest.
#pragma once

#include <string>
#include <string_view>

#include "report/budget.hpp"
#include "report/report.hpp"

namespace roofline {

/// True if launches have start times. Means, and launches replayed in isolation, have total times but no wall time.
bool has_wall_time(const Report& report);
/// Wall time (for a suite, kernel time), and the time of the same work at the roofs.
std::string answer(const Report& report);
/// "its kernels", or "the 72 % of its kernel time with a known roof": those that the time at the roofs is of. `whose`:
/// "its" or "the".
std::string kernels_with_roofs(const Budget& budget, std::string_view whose);
/// "The other 5.81 s: 3.02 s kernels below their roof; …", largest first.
std::string time_above_roofs(const Report& report);

}  // namespace roofline
