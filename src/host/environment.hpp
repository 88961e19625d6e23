// Environment variables: of this process, and of programs that it starts.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roofline {

/// Empty if the variable is not set.
std::string environment_variable(const char* name);

/// This process's variables as "NAME=value", with those set or replaced. LD_LIBRARY_PATH is the user's.
std::vector<std::string> environment_with(std::map<std::string, std::string> changes);

}  // namespace roofline
