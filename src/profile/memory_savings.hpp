// What is wrong with a program's use of memory, with line, evidence and action. No time is saved by it.
#pragma once

#include <vector>

#include "profile/actions.hpp"
#include "report/profile.hpp"

namespace roofline {

struct MemorySavings {
  std::vector<Saving> first;  ///< the program ends by it: more important than any time
  std::vector<Saving> last;
};

/// `failed`: the program did not end well. One finding of a cause, of the process and GPU where it is worst.
MemorySavings memory_savings(const MemoryProfile& memory, Framework framework, bool failed);

}  // namespace roofline
