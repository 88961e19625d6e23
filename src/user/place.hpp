// Where in a file something was said, so that a complaint that comes later can still name it.
#pragma once

#include <string>

#include "model/error.hpp"

namespace roofline {

struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  std::string text() const { return file + ":" + std::to_string(line) + ":" + std::to_string(column); }
  /// So many characters further on the same line.
  Place after(std::size_t characters) const { return {file, line, column + static_cast<int>(characters)}; }
  [[noreturn]] void fail(const std::string& complaint) const { throw UsageError(text() + ": " + complaint); }
};

}  // namespace roofline
