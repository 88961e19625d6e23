// Merges timeline bars that are too short to be distinguished. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "report/profile.hpp"

namespace roofline {

/// Merges short neighbouring bars of a lane until at most `most` are left, if possible: bars that begin in the same
/// cell of a grid and are shorter than the cell. Uses the finest grid, from successive halving, that is sufficient. The
/// bars of a lane are sorted by start and within [0, length_s].
void merge_slices(std::vector<Lane>& lanes, double length_s, std::size_t most);

}  // namespace roofline
