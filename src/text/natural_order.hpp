// Sorting of names that have numbers in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// "2_b" before "10_a": runs of digits are compared as numbers.
bool natural_less(std::string_view a, std::string_view b);

/// Rank of each text in natural order ("x 9" before "x 10"); equal texts share a rank.
std::vector<double> natural_ranks(const std::vector<std::string>& texts);

}  // namespace roofline
