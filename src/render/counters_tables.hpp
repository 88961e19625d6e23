// What was counted and what follows from it, for the renderers of text.
#pragma once

#include <string>

#include "render/render.hpp"

namespace roofline {

/// "## Measured against modelled" and "## What to do next"; the first only where something was counted.
std::string counters_markdown(const Report& report);

/// A block for each kernel that a rule speaks of, or that was counted; at most so wide as the style says.
std::string counters_terminal(const Report& report, const TerminalStyle& style);

}  // namespace roofline
