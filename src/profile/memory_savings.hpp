// Problems in a program's memory use, with line, evidence and action. They save no time.
#pragma once

#include <vector>

#include "profile/actions.hpp"
#include "report/profile.hpp"

namespace roofline {

struct MemorySavings {
  std::vector<Saving> first;  ///< problems that end the program: listed before all savings of time
  std::vector<Saving> last;
};

/// `failed`: the program failed. One finding per cause, for the process and GPU where it is worst.
MemorySavings memory_savings(const MemoryProfile& memory, Framework framework, bool failed);

}  // namespace roofline
