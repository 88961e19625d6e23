// Renderers of a fleet, each a pure function of it.
#pragma once

#include <string>

#include "fleet/fleet.hpp"
#include "render/render.hpp"

namespace roofline {

inline constexpr const char* kFleetSchema = "roofline.fleet/1";

/// Counts, groups, outliers and their causes; the first `top` outliers and changes.
std::string render_fleet_terminal(const Fleet& fleet, const TerminalStyle& style, std::size_t top);
std::string render_fleet_json(const Fleet& fleet);  ///< fleet.json (docs/report-schema.md)
std::string render_fleet_html(const Fleet& fleet);  ///< fleet.html, one self-contained file without a script
std::string render_fleet_csv(const Fleet& fleet);   ///< fleet.csv: a line a machine and ceiling

/// "2,000 machines in 3 groups, 2 outliers"; with the worst gap if a resource was judged on fewer than half of a group.
std::string fleet_headline(const Fleet& fleet);
/// "8 machines, no outlier": what the judgement of a group is.
std::string fleet_group_outcome(const FleetGroup& group);
/// "main memory judged on 0 of 6 machines".
std::string fleet_gap(const JudgingGap& gap, const FleetGroup& group);
/// "node017 GPU 3 (360f7906)".
std::string fleet_machine(const MachineSummary& summary);
/// "4.2 % below the median (4.50 TB/s, median 4.70)".
std::string fleet_deviation(const Deviation& slow, const FleetGroup& group);
/// The causes as one text; says so if there are none.
std::string fleet_reason(const Outlier& outlier);
/// "hbm.read fell by 5.0 % between 2026-01-01 and 2026-01-08".
std::string fleet_drift(const CeilingDrift& drift);

}  // namespace roofline
