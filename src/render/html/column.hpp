// The columns of tables whose rows are kernels.
#pragma once

#include <string>

namespace roofline {

struct Column {
  const char* title;
  const char* style;    ///< class of its cells
  const char* meaning;  ///< tool tip
};

/// A cell of that column; it sorts by the number where that is finite.
std::string html_cell(const Column& column, double sort_by, const std::string& content);

}  // namespace roofline
