// What pipes and levels are called where people read them.
#pragma once

#include <string>
#include <string_view>

#include "model/names.hpp"

namespace roofline {

/// "HBM", "L2", "shared memory".
std::string title_of(Level level);

/// Of a pipe or a compute ceiling, by its name: "FP32", "BF16 tensor".
std::string title_of_pipe(std::string_view name);

}  // namespace roofline
