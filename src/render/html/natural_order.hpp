// Sorting of names that have numbers in them.
#pragma once

#include <string>
#include <vector>

namespace roofline {

/// Where each text stands in the order of people, in which "x 9" is before "x 10"; equal ones share a rank.
std::vector<double> natural_ranks(const std::vector<std::string>& texts);

}  // namespace roofline
