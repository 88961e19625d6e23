// Projections for people.
#pragma once

#include <string>
#include <vector>

#include "project/projection.hpp"
#include "render/render.hpp"

namespace roofline {

/// The projections, fastest first, and the rows of the first one. `prices`: of an hour on each; 0: not given.
std::string render_projections_terminal(const Report& report, const std::vector<Projection>& projections,
                                        const std::vector<double>& prices, const TerminalStyle& style);
std::string render_projections_markdown(const Report& report, const std::vector<Projection>& projections,
                                        const std::vector<double>& prices);

}  // namespace roofline
