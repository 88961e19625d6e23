// The kernels in a piece of machine code, and which of them an entry of a suite means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "user/compile.hpp"

namespace roofline {

/// The request's entries by their names in the machine code. Throws Error if one is missing or ambiguous.
std::vector<std::string> find_entries(const CompileRequest& request, const std::filesystem::path& code);

}  // namespace roofline
