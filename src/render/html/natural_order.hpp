// Sorting of names that have numbers in them.
#pragma once

#include <string>
#include <vector>

namespace roofline {

/// Rank of each text in natural order ("x 9" before "x 10"); equal texts share a rank.
std::vector<double> natural_ranks(const std::vector<std::string>& texts);

}  // namespace roofline
