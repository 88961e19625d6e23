// Sentences about the steps of a program, for page, Markdown and terminal. Empty for a program without steps.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/hotspots.hpp"
#include "report/report.hpp"

namespace roofline {

/// "loading CUDA modules".
std::string_view name_of(StartUpPart part);

/// "A step takes 92.3 ms (61 steps, 90.9 ms to 94.0 ms). At the measured roofs 4.1 ms."
std::string step_answer(const Report& report);

/// First action: the largest recurring saving with a known cause, its line, time per step and action.
std::string first_action(const Report& report, const std::vector<Hotspot>& hotspots);

/// "12.3 ms per step (13.3 %)"; "210 ms once"; without steps "1.2 s".
std::string saving_time(const Report& report, const Hotspot& hotspot);

/// " (210 ms once)" for a single event, whose time is spread over the steps; empty otherwise.
std::string once_text(const Report& report, const Hotspot& hotspot);

/// Steps that were much slower than the others, each with its difference.
std::vector<std::string> slow_step_lines(const Report& report);

/// Parts of the run outside the steps, one per line: {"Start-up", "6.10 s: 3.10 s before CUDA; …"}.
std::vector<std::pair<std::string, std::string>> run_parts(const Report& report);

/// Why there are no steps, as a sentence; empty if there are steps or the reason is unknown.
std::string why_no_steps(const Report& report);

}  // namespace roofline
