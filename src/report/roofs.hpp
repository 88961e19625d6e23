// Which ceilings of a machine bound the kernels of a report, and what they are called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// A rate (FLOP/s, byte/s) that a logarithmic axis can show; a file may hold any number.
bool is_plausible(double rate);

/// The bytes of a chart's intensity: those at main memory, or those over the network.
enum class Intensity : std::uint8_t { memory, network };

/// FLOP/byte of a row by these bytes; of a CPU program's loop those that it loads and stores, from whatever level.
double intensity_of(const Point& point, Intensity of);

/// Whether a row can be a point: it was timed, counts FLOPs, and has a finite intensity and performance
/// that a logarithmic axis can show.
bool is_plottable(const Point& point, Intensity of = Intensity::memory);

/// Whether the row is drawn: it is plottable, and the chart's roofs are those of the GPU that it ran on.
bool is_on_chart(const Report& report, const Point& point, Intensity of = Intensity::memory);

/// The bytes per second at the level that limits a row without FLOPs, which has no intensity: it is drawn at the left
/// edge of the chart, by its bandwidth. 0: it is not drawn there.
double edge_bandwidth(const Report& report, const Point& point);

/// Whether the row has a mark: a point, or one at the edge.
bool has_mark(const Report& report, const Point& point);

/// Whether there is a point for a communication roofline, and a roof.
bool has_network_chart(const Report& report);

/// The warning about a machine whose roofs are data-sheet limits; empty where they were measured.
std::string not_measured(const Machine& machine);
/// Whether rows of the report may be under data-sheet limits: those of its machine, or of another GPU model.
bool has_unmeasured_roofs(const Report& report);

/// One line of the roofline chart.
struct Roof {
  const Ceiling* ceiling = nullptr;
  std::string name;                    ///< "HBM read", "BF16 tensor", "shared memory read"
  bool used = false;                   ///< a point of the chart runs on this level or pipe
  bool main = false;                   ///< one of the two that make the roofline
  std::vector<const Ceiling*> others;  ///< the level's other patterns, measured but not drawn
  bool limits = false;                 ///< it limits a point, and so always has a name
  double from = 0, to = 0;             ///< FLOP/byte of the points that hang on a pattern: it is drawn there alone

  /// Whether its limit is drawn as a line: not where it lies within the line width of the roof.
  bool shows_limit() const;
  std::string level_name() const;                ///< "HBM": the name without the pattern
  std::string label() const;                     ///< "HBM read 4.67 TB/s"; marked where suspect
  std::string title() const;                     ///< name, rate, regime, interval and origin, in one line
  std::vector<std::string> title_notes() const;  ///< hardware limit, other ceilings of the roof, failed checks
};

/// One line of text for roofs that lie on each other: "BF16 · FP16 tensor 917 · 877 TFLOP/s". What they share stands
/// once. Never empty.
std::string shared_label(const std::vector<const Roof*>& roofs);

/// The same without the values: "BF16 · FP16 tensor".
std::string shared_name(const std::vector<const Roof*>& roofs);

/// The values alone, for sustained roofs beside the name of their burst ones: "862 · 830 sustained".
std::string sustained_label(const std::vector<const Roof*>& roofs);

/// Where a pipe's roof meets the read roof of main memory.
struct Ridge {
  const Roof* roof = nullptr;
  double intensity = 0;  ///< FLOP/byte
};

struct Roofs {
  std::vector<Roof>
      memory;  ///< slopes, the steepest first: a level's read roof, or its highest where none was measured
  std::vector<Roof> patterns;  ///< copy, triad…: roofs of points that their level's slope does not limit
  std::vector<Roof> compute;   ///< horizontal lines, the highest first

  const Roof* main_memory() const;
  const Roof* main_compute() const;
  /// Of each pipe that limits a point, the lowest first; where memory limits them all, of those that they run on, and
  /// without any point of the highest. Empty without a roof of either kind.
  std::vector<Ridge> ridges() const;
};

/// FLOP/byte of a ridge, as it is written: "4.8", "14", "203".
std::string ridge_value(double intensity);
/// "ridge: fp32 14, bf16 203 FLOP/byte"; empty without a ridge.
std::string ridge_label(const Roofs& roofs);
/// "ridges 14–203 FLOP/byte", where there is no room for each.
std::string ridge_range(const Roofs& roofs);

/// Every level by one slope, and by its other patterns where they limit a point; every pipe by its burst
/// roof, and by its sustained one where that limits a point. References are never drawn.
/// Ceilings without a positive finite value are left out; so are links (pcie, nvlink) that no point uses. The network's
/// stand alone where intensities are those of the network, and nowhere else.
Roofs roofs_of(const Report& report, Intensity of = Intensity::memory);

/// What could not be measured, for people: an entry for each reason, its names as one, in the order of the first of
/// them.
std::vector<Unmeasured> by_reason(const std::vector<Unmeasured>& unmeasured);

}  // namespace roofline
