// What a report says, in sentences: the same words in the page, in Markdown and in the terminal.
#pragma once

#include <string>
#include <vector>

#include "report/finding.hpp"
#include "report/report.hpp"

namespace roofline {

/// What people call a row: its label, and its implementation, for a suite runs several on one shape.
std::string point_name(const Point& point);

/// "hbm.write 4.7 TB/s", "tensor.bf16 798 TFLOP/s", "ridge 171 FLOP/byte": the machine in one line, as parts to be
/// joined: the two roofs that the chart draws as its roofline, the highest of main memory and of the pipes that the run
/// uses.
std::vector<std::string> headline(const Report& report);

/// Its operations a second: "798 TFLOP/s", of integers "1.34 POP/s"; empty where it has none.
std::string performance_text(const Point& point);

/// What a sweep shows: "33.1 TB/s up to 231 KiB, 9.8 TB/s up to 44.5 MiB, 4.67 TB/s beyond".
std::string sweep_sentence(const Sweep& sweep);

/// The ceiling that limits a point, with its regime where that is not burst: "tensor.bf16 (sustained)"; empty when
/// nothing limits it.
std::string limit_label(const Bound& bound);

/// "The run did not come to its end: 3 of 10 rows are here."; empty of one that did.
std::string unfinished(const Report& report);
/// What a reader must know before any figure: what failed, ended early, or is not to be trusted.
Findings alarms(const Report& report);
/// How many ran, by what they are bound, and what to know of the machine.
Findings run_facts(const Report& report);

/// Plain sentences, the most important first: the alarms, then counts and extremes.
Findings findings(const Report& report);

}  // namespace roofline
