// A profiled program in a terminal: summary, hotspots, kernels.
#pragma once

#include <string>

#include "render/render.hpp"

namespace roofline {

std::string profile_terminal(const Report& report, const TerminalStyle& style);

}  // namespace roofline
