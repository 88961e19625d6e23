// Which ceilings of a machine a chart draws, what they are called, and what the axes show because of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/chart/axes.hpp"
#include "report/chart/points.hpp"
#include "report/report.hpp"

namespace roofline {

/// One line of the roofline chart.
struct Roof {
  const Ceiling* ceiling = nullptr;
  std::string name;                    ///< "HBM read", "BF16 tensor", "shared memory read"
  bool used = false;                   ///< a point of the chart runs on this level or pipe
  bool main = false;                   ///< one of the two that make the roofline
  std::vector<const Ceiling*> others;  ///< the level's other patterns, measured but not drawn

  /// Its limit is a line of its own. Nearer than the lines are wide it would only make them ragged; hovering tells it.
  bool shows_limit() const;
  std::string level_name() const;  ///< "HBM": the name without the pattern
  std::string label() const;       ///< "HBM read 4.67 TB/s"; a suspect ceiling says so
  std::string title() const;       ///< everything there is to know about it, in one line
};

/// One line of text for roofs that lie on each other: "BF16 · FP16 tensor 917 · 877 TFLOP/s". What they share stands
/// once. Never empty.
std::string shared_label(const std::vector<const Roof*>& roofs);

/// The values alone, for sustained roofs beside the name of their burst ones: "862 · 830 sustained".
std::string sustained_label(const std::vector<const Roof*>& roofs);

struct Roofs {
  std::vector<Roof> memory;   ///< slopes, the steepest first
  std::vector<Roof> compute;  ///< horizontal lines, the highest first

  const Roof* main_memory() const;
  const Roof* main_compute() const;
  /// FLOP/byte where the two main roofs meet; nothing unless there are both.
  std::optional<double> ridge() const;
};

/// Every level by its highest burst roof (Machine::slope), every pipe by its burst roof, and by its sustained one
/// too where a point is held against that. References are never drawn.
/// Ceilings without a positive finite value are left out; so are links (pcie, nvlink) that no point uses.
Roofs roofs_of(const Report& report);

struct AxisRanges {
  Range intensity;    ///< FLOP/byte
  Range performance;  ///< FLOP/s
};

/// Follows from the ceilings; points only extend it, and not beyond what anyone could read.
AxisRanges axis_ranges(const Roofs& roofs, const std::vector<PlottedPoint>& points);

}  // namespace roofline
