// What is reported of library functions that use much of the CPU time.
#pragma once

#include <span>
#include <string_view>

#include "report/function_purpose.hpp"

namespace roofline {

struct PurposeText {
  FunctionPurpose purpose;
  double least;  ///< share of the CPU time from which on it is named
  std::string_view id, finding, action;
};

/// Purposes of which the share alone is a cause.
std::span<const PurposeText> purpose_texts();

/// Of mathematics, where most of it is powers.
const PurposeText& power_text();

}  // namespace roofline
