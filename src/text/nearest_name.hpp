// "Did you mean": the candidate that a misspelt name was meant to be.
#pragma once

#include <string>
#include <vector>

namespace roofline {

/// The nearest candidate within a third of its length in edits, or empty.
std::string nearest_name(const std::string& given, const std::vector<std::string>& candidates);

}  // namespace roofline
