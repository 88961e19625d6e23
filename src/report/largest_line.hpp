// The line of a program at which the GPU spends most time, for steps in which no cause of lost time stands out.
#pragma once

#include <string>

#include "report/report.hpp"

namespace roofline {

/// "Most GPU time: score.py:48 score, 41 % of it, at 92 % of its roof (hbm.read)." Empty without steps, and if no line
/// has a good part of a step.
std::string largest_line(const Report& report);

}  // namespace roofline
