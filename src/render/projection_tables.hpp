// Internal to the renderers of projections: their sentences and tables.
#pragma once

#include <string>
#include <vector>

#include "render/projection_render.hpp"
#include "render/text_table.hpp"

namespace roofline {

/// "On an H200 a step takes 3.1 ms (2.9 ms to 3.4 ms) instead of 4 ms: 1.29× as fast; memory-bound kernels gain most
/// (1.40×)."
std::string projection_headline(const Report& report, const Projection& projection);
/// Composition of a step on the report's machine; empty without steps.
std::string projected_step_text(const Projection& projection);
/// "3 kernels (41 % of the time) are memory-bound here and compute-bound there: …", the longest first.
std::vector<std::string> limit_change_texts(const Report& report, const Projection& projection);
/// Indices, the best first: by time, energy or price. Machines that the program can't run on are last.
std::vector<std::size_t> ranked(const Projections& of);
/// "fastest first".
std::string ranking_title(Ranking ranking);
/// True if the machines are ranked: there are several, or prices.
bool has_ranking(const Projections& of);

TextTable table_of_machines(const Projections& of);
/// The `most` rows that take longest here.
TextTable table_of_rows(const Report& report, const Projection& projection, std::size_t most);
/// Rows with only a range, and those that can't run there, with the reason.
TextTable table_of_unprojected(const Report& report, const Projection& projection, std::size_t most);
std::vector<std::string> projection_notes(const Projections& of, std::size_t most);
/// "train · NVIDIA H200".
std::string projection_title(const Report& report);

}  // namespace roofline
