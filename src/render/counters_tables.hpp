// Hardware counters and verdicts for the text renderers.
#pragma once

#include <string>
#include <vector>

#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"

namespace roofline {

/// "## Measured against modelled"; empty without counters.
std::string counters_markdown(const Report& report);

/// "## Where to spend time", a list, and "## Verdicts", one for each kernel; empty if there are none.
std::string hotspots_markdown(const Report& report, const std::vector<Verdict>& verdicts);
std::string verdicts_markdown(const Report& report, const std::vector<Verdict>& verdicts);

/// The verdicts with their counters, largest saving first, wrapped to the width of the style.
std::string verdicts_terminal(const Report& report, const TerminalStyle& style);

}  // namespace roofline
