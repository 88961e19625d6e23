// Tables of a program's change: parts of a step, causes of lost time, kernels and functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "render/columns.hpp"
#include "report/comparison/program_change.hpp"

namespace roofline {

enum class CostTable : std::uint8_t { parts, causes, kernels, functions };

/// A row in texts for people. Empty: the table has no such column, or the row no such figure.
struct CostRow {
  std::string name = {};
  std::string launches = {}, per_launch = {};  ///< "12 → 6"
  std::string before = {}, now = {}, difference = {};
  std::string word = {};  ///< "gone", "new"
  Ink ink = Ink::plain;   ///< ink of the difference
};

struct ShownCosts {
  CostTable table = CostTable::parts;
  CostUnit unit = CostUnit::step;
  std::vector<CostRow> rows;
};

/// Tables that have rows. Their parts and differences add up as shown; what is too small for a row of its own is summed
/// up in one.
std::vector<ShownCosts> cost_tables(const ProgramChange& change);

std::span<const Column<CostRow, ShownCosts>> cost_columns();
/// "What a mean step consists of", "Causes of lost time, per step".
std::string title_of(const ShownCosts& costs);

}  // namespace roofline
