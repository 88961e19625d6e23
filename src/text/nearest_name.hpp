// "Did you mean": the likely intended candidate for a misspelt name.
#pragma once

#include <string>
#include <vector>

namespace roofline {

/// The nearest candidate within an edit distance of a third of its length, or empty.
std::string nearest_name(const std::string& given, const std::vector<std::string>& candidates);

}  // namespace roofline
