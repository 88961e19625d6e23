// The columns of a profile's sums: by line, by direction of copies, by call.
#pragma once

#include <string_view>
#include <vector>

#include "render/columns.hpp"
#include "report/report.hpp"

namespace roofline {

/// A line of the program, or the sum of several.
struct LineRow {
  LineSum line;
  double all_s = 0;          ///< time of all kernels
  std::string instead = {};  ///< the name of a sum of several lines
};
struct CallRow {
  CallSum call;
  bool several = false;  ///< the sum of the calls that are not shown: no median
};

/// The costliest `most` lines.
std::vector<LineRow> line_rows(const Profile& profile, std::size_t most);
/// The costliest `most` calls.
std::vector<CallRow> call_rows(const Profile& profile, std::size_t most);

/// Whose functions the calls are: "CUDA", "HIP"; "runtime" of others.
std::string_view runtime_name(const Profile& profile);

std::span<const Column<LineRow, Profile>> line_columns();
std::span<const Column<CopySum, Profile>> copy_columns();
std::span<const Column<CallRow, Profile>> call_columns();

}  // namespace roofline
