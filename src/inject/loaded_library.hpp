// Libraries that are loaded in this process, by the name of their file.
#pragma once

#include <string>
#include <string_view>

namespace roofline::inject {

/// Path of the loaded library whose file has that name; empty: there is none.
std::string loaded_library(std::string_view file);

}  // namespace roofline::inject
