// Reports for other programs: traces, metrics, JSON lines.
#pragma once

#include <string>

#include "report/runs.hpp"

namespace roofline {

/// timeline.trace: the timeline of a profile as chrome://tracing and Perfetto take it. Throws UsageError if there is
/// none.
std::string render_trace(const Runs& runs);

/// metrics.prometheus: the rows as gauges of Prometheus's text format.
std::string render_prometheus(const Runs& runs);

/// results.jsonl: one JSON object per line, each a row as in report.json with its suite and device.
std::string render_json_lines(const Runs& runs);

}  // namespace roofline
