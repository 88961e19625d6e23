// The outcome of comparing an output with its reference. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/names.hpp"
#include "model/work_bounds.hpp"

namespace roofline {

/// The element of one output whose error is the largest part of what it may be.
struct OutputError {
  std::string output;  ///< name of the tensor
  DType dtype = DType::fp32;
  double error = 0;      ///< |out - ref|; NaN if an element is NaN
  double permitted = 0;  ///< what that may be at this element; 0 where only the exact value is right
};

struct Verification {
  bool passed = false;
  double error = 0;          ///< |out - ref| / (|ref| + magnitude) of the worst element; NaN when an output is NaN
  double tolerance = 0;      ///< what `error` may be at most
  std::int64_t checked = 0;  ///< output elements compared
  std::int64_t outputs = 0;  ///< output elements in all
  std::string reference;     ///< "fp64 on the CPU, all 4096 elements"
  std::string failure;       ///< what is wrong, with the first bad element; empty when passed
  std::vector<OutputError> worst = {};  ///< per output, unless several processes share them
  std::optional<WorkBounds> work = {};  ///< set for a suite's kernel, from its buffers and formulas
  /// Of a suite's kernel on a CPU without counters, where roofline_count was found.
  std::optional<ExecutedFlops> executed = {};

  /// True if some element was compared. Without a reference, only guard zones and inputs are checked.
  bool compared() const { return checked > 0; }
};

/// "pass", "fail", or "unverified": no error found, but nothing compared.
inline std::string_view status_of(const Verification& verification) {
  if (!verification.passed) return "fail";
  return verification.compared() ? "pass" : "unverified";
}

}  // namespace roofline
