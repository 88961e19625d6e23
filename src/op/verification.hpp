// The outcome of comparing an output with its reference. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace roofline {

struct Verification {
  bool passed = false;
  double error = 0;          ///< max |out - ref| / (|ref| + magnitude); NaN when an output is NaN
  double tolerance = 0;      ///< what `error` may be at most
  std::int64_t checked = 0;  ///< output elements compared
  std::int64_t outputs = 0;  ///< output elements in all
  std::string reference;     ///< "fp64 on the CPU, all 4096 elements"
  std::string failure;       ///< what is wrong, with the first bad element; empty when passed
};

}  // namespace roofline
