// The findings of a report as sentences, the same for page, Markdown and terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// Name of a row: its label and implementation.
std::string point_name(const Point& point);

/// "hbm.write 4.7 TB/s", "tensor.bf16 798 TFLOP/s", "ridge 171 FLOP/byte": the two main roofs and their ridge, one part
/// each.
std::vector<std::string> headline(const Report& report);

/// Unit of the points' operations: "FLOP/s", "OP/s" for integers, or "FLOP/s, OP/s".
std::string operation_unit(std::span<const Point> points);

/// "TILE=8 1.52 µs, TILE=4 1.81 µs (+19.1 %)": the candidate configurations, fastest first; empty without a choice.
std::string tried_text(const Point& point);

/// Operations per second: "798 TFLOP/s", "1.34 POP/s" for integers; empty without operations.
std::string performance_text(const Point& point);

/// Summary of a sweep: "33.1 TB/s up to 231 KiB, 9.8 TB/s up to 44.5 MiB, 4.67 TB/s beyond".
std::string sweep_sentence(const Sweep& sweep);

/// Limiting ceiling of a point, with its regime unless that is burst: "tensor.bf16 (sustained)"; empty without a limit.
std::string limit_label(const Bound& bound);

/// "The run is incomplete: 3 of 10 rows are present."; empty for a complete run.
std::string unfinished(const Report& report);
/// Findings that invalidate figures: rows that failed, ended early, or cannot be trusted.
Findings alarms(const Report& report);
/// Row counts, bounds, and findings about the machine.
Findings run_facts(const Report& report);

/// All findings, most important first.
Findings findings(const Report& report);

}  // namespace roofline
