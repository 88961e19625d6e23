// The columns of a comparison of two runs.
#pragma once

#include <vector>

#include "render/columns.hpp"
#include "report/comparison/comparison.hpp"

namespace roofline {

/// A row of either run, with its change.
struct ComparisonRow {
  const Comparison* comparison;
  const PointChange* change;
  const Point* before;  ///< null: the run has no such row
  const Point* now;

  const Point& point() const { return now != nullptr ? *now : *before; }
  bool is_regression() const { return comparison->is_regression(*change); }
};

/// The rows in the order of `changes`.
std::vector<ComparisonRow> comparison_rows(const Comparison& comparison,
                                           const std::vector<const PointChange*>& changes);
/// All rows of a comparison.
std::vector<ComparisonRow> comparison_rows(const Comparison& comparison);
std::span<const Column<ComparisonRow, Comparison>> comparison_columns();

}  // namespace roofline
