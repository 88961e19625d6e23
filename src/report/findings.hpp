// The findings of a report as sentences, the same for page, Markdown and terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// A row's name: its label and its implementation.
std::string point_name(const Point& point);

/// "hbm.write 4.7 TB/s", "tensor.bf16 798 TFLOP/s", "ridge 171 FLOP/byte": the two main roofs of the chart and their
/// ridge, as parts to be joined into one line.
std::vector<std::string> headline(const Report& report);

/// The unit of the points' operations: "FLOP/s", of integers "OP/s", of both "FLOP/s, OP/s".
std::string operation_unit(std::span<const Point> points);

/// "TILE=8 1.52 µs, TILE=4 1.81 µs (+19.1 %)": the configurations of which the row's was chosen, fastest first; empty
/// where there was no choice.
std::string tried_text(const Point& point);

/// Its operations a second: "798 TFLOP/s", of integers "1.34 POP/s"; empty where it has none.
std::string performance_text(const Point& point);

/// What a sweep shows: "33.1 TB/s up to 231 KiB, 9.8 TB/s up to 44.5 MiB, 4.67 TB/s beyond".
std::string sweep_sentence(const Sweep& sweep);

/// The ceiling that limits a point, with its regime where that is not burst: "tensor.bf16 (sustained)"; empty when
/// nothing limits it.
std::string limit_label(const Bound& bound);

/// "The run is incomplete: 3 of 10 rows are present."; empty for a complete run.
std::string unfinished(const Report& report);
/// What invalidates figures: rows that failed, ended early, or can't be trusted.
Findings alarms(const Report& report);
/// How many rows ran, their bounds, and findings about the machine.
Findings run_facts(const Report& report);

/// All of them, the most important first.
Findings findings(const Report& report);

}  // namespace roofline
