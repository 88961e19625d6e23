// The columns of a program's memory by line.
#pragma once

#include "render/columns.hpp"
#include "report/report.hpp"

namespace roofline {

/// A line that allocated memory, or the sum of what has no line.
struct MemoryRow {
  MemoryHolder holder;
  double all = 0;            ///< bytes in all
  std::string instead = {};  ///< the name of a sum
};

std::span<const Column<MemoryRow, Profile>> memory_columns();

}  // namespace roofline
