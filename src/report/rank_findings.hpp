// Sentences about the ranks of a job, for page, Markdown and terminal. Empty for a program without ranks.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// Compute share of a step and the cost of the rest: "8 ranks: 71 % of a step of 31.0 ms is compute (22.0 ms); …".
std::string scaling_text(const Report& report);

/// How collectives were matched, and how many; empty if all were.
std::string matching_text(const Report& report);

/// Ranks by number. If there are more than `most`, those that others wait for most, then those that wait least.
std::vector<RankSum> shown_ranks(const Ranks& ranks, std::size_t most);

}  // namespace roofline
