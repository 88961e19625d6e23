// Bars of a timeline that are too short to be told apart, joined. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "report/profile.hpp"

namespace roofline {

/// Joins short neighbouring bars of a lane until at most `most` bars are left, if that is possible: those that begin in
/// the same cell of a grid and are shorter than it. The grid is the finest of halved ones that is enough. The bars of a
/// lane are by start and within [0, length_s].
void merge_slices(std::vector<Lane>& lanes, double length_s, std::size_t most);

}  // namespace roofline
