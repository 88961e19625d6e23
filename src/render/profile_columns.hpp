// The columns of a profile's sums: by line, by direction of copies, by call.
#pragma once

#include <vector>

#include "render/columns.hpp"
#include "report/report.hpp"

namespace roofline {

/// A line of the program, or what several have in common.
struct LineRow {
  LineSum line;
  double all_s = 0;          ///< of all kernels
  std::string instead = {};  ///< of no single line: what stands for its name
};
struct CallRow {
  CallSum call;
  bool several = false;  ///< a sum of what is not shown: no median
};

/// The costliest `most` lines.
std::vector<LineRow> line_rows(const Profile& profile, std::size_t most);
/// The costliest `most` calls.
std::vector<CallRow> call_rows(const Profile& profile, std::size_t most);

std::span<const Column<LineRow, Profile>> line_columns();
std::span<const Column<CopySum, Profile>> copy_columns();
std::span<const Column<CallRow, Profile>> call_columns();

}  // namespace roofline
