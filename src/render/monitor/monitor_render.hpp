// Renderers of samples: pure functions.
#pragma once

#include <string>

#include "monitor/sample.hpp"
#include "render/render.hpp"

namespace roofline {

/// Fits a screen of `lines` lines (0: no limit): every device in full if possible, else one line each.
std::string render_monitor_terminal(const Sample& sample, const TerminalStyle& style, int lines);

/// "roofline.monitor/1", one line.
std::string render_monitor_json(const Sample& sample);

/// Gauges and counters of Prometheus's text format.
std::string render_monitor_prometheus(const Sample& sample);

}  // namespace roofline
