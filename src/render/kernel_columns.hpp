// The columns of every table of kernels, of suites and of programs alike.
#pragma once

#include <vector>

#include "render/columns.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/report.hpp"

namespace roofline {

class Marks;

/// The source of a row of a table of kernels.
struct KernelRow {
  const Report& report;
  const Point& point;
  std::size_t index;                 ///< index into Report::points
  const Verdict* verdict = nullptr;  ///< null: not timed
  bool listed = false;               ///< true if the verdict has an entry of its own on the page
  const Marks* marks = nullptr;      ///< marks of the page

  Level memory() const { return main_memory(report.machine.device.kind); }
  bool timed() const { return point.status == PointStatus::ok && point.time.has_value(); }
  /// The profiled row; an empty value for other rows.
  const ProfiledKind& launch() const;
  /// Seconds above what the roof allows, of all launches; NaN if unknown.
  double saving_s() const;
};

using KernelColumn = Column<KernelRow, Report>;

/// A new column is an entry of this table.
std::span<const KernelColumn> kernel_columns();

/// The rows in the order of the report. `verdicts` may be empty; the rows point into it.
std::vector<KernelRow> kernel_rows(const Report& report, const std::vector<Verdict>& verdicts = {});
/// The rows of a program, the one that takes the most time first.
std::vector<KernelRow> program_rows(const Report& report, const std::vector<Verdict>& verdicts = {});
/// The rows of a suite by the time that could be saved; then those without a time.
std::vector<KernelRow> rows_by_saving(const Report& report, const std::vector<Verdict>& verdicts);

}  // namespace roofline
