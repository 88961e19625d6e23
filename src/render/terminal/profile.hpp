// A profiled program in the terminal: the answer first, then what to do, then the kernels.
#pragma once

#include <string>

#include "render/render.hpp"

namespace roofline {

std::string profile_terminal(const Report& report, const TerminalStyle& style);

}  // namespace roofline
