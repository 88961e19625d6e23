// The columns of every table of ceilings: of machines, of reports, and of changes between two calibrations.
#pragma once

#include <vector>

#include "model/compare_machines.hpp"
#include "render/columns.hpp"
#include "report/report.hpp"

namespace roofline {

struct CeilingRow {
  const Machine& machine;
  const Ceiling& ceiling;
  std::size_t index;  ///< index into Machine::ceilings
};

/// machine: everything about each, in the Markdown of a machine and on a page. report: a line for each roof. The others
/// are a terminal's.
enum class CeilingTable : std::uint8_t { machine, report, burst, references, sustained };

/// The rows of a table; `role` selects those of `machine`.
std::vector<CeilingRow> ceiling_rows(const Machine& machine, CeilingTable table, Role role = Role::roof);
std::span<const Column<CeilingRow, CeilingTable>> ceiling_columns();

/// Two machines, of which a table of changes is.
struct MachineChange {};
std::span<const Column<CeilingChange, MachineChange>> ceiling_change_columns();

}  // namespace roofline
