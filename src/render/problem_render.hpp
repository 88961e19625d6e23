// Renderers of a problem's bounds.
#pragma once

#include <optional>
#include <string>

#include "model/machine.hpp"
#include "problem/problem_bound.hpp"
#include "render/render.hpp"

namespace roofline {

/// A measured time of the only phase.
struct MeasuredTime {
  double seconds = 0;
  Score score;
};

std::string render_problem_terminal(const ProblemBound& problem, const Machine& machine,
                                    const std::optional<MeasuredTime>& measured, const TerminalStyle& style);
std::string render_problem_markdown(const ProblemBound& problem, const Machine& machine,
                                    const std::optional<MeasuredTime>& measured);

/// A page: tokens a second and the time to the first one, the parts as bars and under the roofs.
std::string render_problem_html(const ProblemBound& problem, const Machine& machine,
                                const std::optional<MeasuredTime>& measured);

/// The parts of all phases at their bounds under the machine's roofs, as a report for the chart renderers.
Report problem_chart(const ProblemBound& problem, const Machine& machine);

/// One sentence that compares the measured time with the lower bound.
std::string score_text(const PhaseBound& phase, const MeasuredTime& measured);

}  // namespace roofline
