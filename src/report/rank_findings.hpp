// Sentences on the ranks of a job, the same for page, Markdown and terminal. Empty for a program without ranks.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// What part of a step is compute, and what the rest costs: "8 ranks: 71 % of a step of 31.0 ms is compute (22.0 ms);
/// …".
std::string scaling_text(const Report& report);

/// How collectives were matched, and how many: empty where all were.
std::string matching_text(const Report& report);

/// The ranks by their number; of more than `most` those that others wait for most, and that wait least.
std::vector<RankSum> shown_ranks(const Ranks& ranks, std::size_t most);

}  // namespace roofline
