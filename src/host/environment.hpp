// The environment of programs that are started.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roofline {

/// This process's variables as "NAME=value", with those set or replaced. LD_LIBRARY_PATH is the user's.
std::vector<std::string> environment_with(std::map<std::string, std::string> changes);

}  // namespace roofline
