// An error in one line.
#pragma once

#include <string>

#include "model/error.hpp"

namespace roofline {

/// "what: hint", or "what" alone.
inline std::string one_line(const Error& error) {
  return error.hint().empty() ? error.what() : std::string(error.what()) + ": " + error.hint();
}

}  // namespace roofline
