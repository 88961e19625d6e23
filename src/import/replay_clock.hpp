// Launches that were replayed at another clock than that of their roofs: ncu locks the clock to its base by default.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

/// The note on the clocks of compute-bound rows and of their roofs; empty if they are the same, or not known. Shares of
/// roofs are not scaled.
std::string note_of_replay_clocks(const Report& report);

}  // namespace roofline
