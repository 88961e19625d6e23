// Renderers of projections.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "project/projection.hpp"
#include "render/render.hpp"

namespace roofline {

/// What decides the order of the machines.
enum class Ranking : std::uint8_t { time, energy, price };

/// A report on other machines: for each its projection and the price of an hour (0: not given). A view.
struct Projections {
  const Report& report;
  const std::vector<Machine>& machines;
  const std::vector<Projection>& projections;
  const std::vector<double>& prices;
  Ranking ranking = Ranking::time;
};

/// The projections, the best one first, and the rows of that one.
std::string render_projections_terminal(const Projections& of, const TerminalStyle& style);
std::string render_projections_markdown(const Projections& of);
/// The chart, the ranking and the rows of the first machine that was asked for.
std::string render_projections_html(const Projections& of);

/// render_svg, render_png or render_pdf.
using DrawChart = std::function<std::string(const Runs& runs, const ChartOptions& options)>;
/// Each kernel here and on the first machine, under the roofs of both.
std::string render_projection_chart(const Projections& of, const DrawChart& draw);

}  // namespace roofline
