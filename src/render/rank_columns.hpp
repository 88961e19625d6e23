// The columns of a job's ranks and of its collectives.
#pragma once

#include "render/columns.hpp"
#include "report/report.hpp"

namespace roofline {

std::span<const Column<RankSum, Ranks>> rank_columns();
std::span<const Column<CollectiveSum, Ranks>> collective_columns();

}  // namespace roofline
