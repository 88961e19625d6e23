// Internal to the renderers of projections: their sentences and tables.
#pragma once

#include <string>
#include <vector>

#include "project/projection.hpp"
#include "render/text_table.hpp"

namespace roofline {

/// "On an H200 a step takes 3.1 ms (2.9 ms to 3.4 ms) instead of 4 ms: 1.29× as fast; memory-bound kernels gain most
/// (1.40×)."
std::string projection_headline(const Report& report, const Projection& projection);
/// Composition of a step on the report's machine; empty without steps.
std::string projected_step_text(const Projection& projection);
/// Indices.
std::vector<std::size_t> fastest_first(const std::vector<Projection>& projections);
/// True if the machines are ranked: there are several, or prices.
bool has_ranking(const std::vector<Projection>& projections, const std::vector<double>& prices);

TextTable table_of_machines(const std::vector<Projection>& projections, const std::vector<double>& prices);
/// The `most` rows that take longest here.
TextTable table_of_rows(const Report& report, const Projection& projection, std::size_t most);
/// Rows with only a range, and the reason.
TextTable table_of_unprojected(const Report& report, const Projection& projection, std::size_t most);
std::vector<std::string> projection_notes(const std::vector<Projection>& projections, std::size_t most);
/// "train · NVIDIA H200".
std::string projection_title(const Report& report);

}  // namespace roofline
