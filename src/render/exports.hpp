// Reports for other programs' eyes: traces, metrics, lines.
#pragma once

#include <string>

#include "report/runs.hpp"

namespace roofline {

/// timeline.trace: the timeline of a profile as chrome://tracing and Perfetto take it. Throws UsageError where there is
/// none.
std::string render_trace(const Runs& runs);

/// metrics.prometheus: the rows as gauges of Prometheus's text format.
std::string render_prometheus(const Runs& runs);

/// results.jsonl: a JSON object a line, each a row as in report.json with what it was run on.
std::string render_json_lines(const Runs& runs);

}  // namespace roofline
