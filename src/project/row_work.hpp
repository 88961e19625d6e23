// The work of a row on two machines: its bytes change with the caches, and its operations with a what-if. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "report/report.hpp"

namespace roofline {

/// Products of one type that run in another.
struct TypeChange {
  DType from = DType::bf16, to = DType::fp8;
};

/// What-ifs that change the work.
struct WorkChange {
  std::optional<TypeChange> type = {};
  double batch = 1;  ///< factor on all operations and bytes
};

struct RowWork {
  Work here;                  ///< by its model, with what was counted in its place
  std::array<Work, 3> there;  ///< likely, fewest bytes, most bytes
  double batch = 1;           ///< that of the change
};

/// Bytes of main memory follow the size of L2 (or, of hot rows, the cache that holds them); the assumptions are those
/// of docs/project.md.
RowWork work_on_both(const Point& point, const Machine& here, const Machine& there, const WorkChange& change);

/// Why the chip can't execute the row's operations; empty if it can.
std::string missing_unit(const Work& work, const Machine& machine);

}  // namespace roofline
