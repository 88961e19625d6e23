// The ceilings that bound the kernels of a report, and their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// True for a rate (FLOP/s, byte/s) that a logarithmic axis can show; files may contain any number.
bool is_plausible(double rate);

/// Bytes in the intensity of a chart: main memory or network.
enum class Intensity : std::uint8_t { memory, network };

/// Intensity of a row by these bytes, FLOP/byte. For loops of CPU programs: loaded and stored bytes, at any level.
double intensity_of(const Point& point, Intensity of);

/// True if the row was timed, counts FLOPs, and has an intensity and a performance that a logarithmic axis can show.
bool is_plottable(const Point& point, Intensity of = Intensity::memory);

/// True if the row is plottable and the chart's roofs are those of its GPU.
bool is_on_chart(const Report& report, const Point& point, Intensity of = Intensity::memory);

/// Bandwidth, in bytes per second, of a row without FLOPs at its limiting level; such rows are drawn at the left edge
/// of the chart. 0: not drawn.
double edge_bandwidth(const Report& report, const Point& point);

/// True if the row has a mark: a point, or one at the edge.
bool has_mark(const Report& report, const Point& point);

/// True if a communication roofline has a point and a roof.
bool has_network_chart(const Report& report);

/// Warning that the machine's roofs are data-sheet limits; empty if they were measured.
std::string not_measured(const Machine& machine);
/// True if rows may be compared with data-sheet limits of the report's machine or of another GPU model.
bool has_unmeasured_roofs(const Report& report);

/// One line of the roofline chart.
struct Roof {
  const Ceiling* ceiling = nullptr;
  std::string name;                    ///< "HBM read", "BF16 tensor", "shared memory read"
  bool used = false;                   ///< a point of the chart uses this level or pipe
  bool main = false;                   ///< one of the two main roofs
  std::vector<const Ceiling*> others;  ///< the level's other patterns, measured but not drawn
  bool limits = false;                 ///< limits a point, so it is always labelled
  double from = 0, to = 0;             ///< range of FLOP/byte of the points limited by a pattern, where it is drawn

  /// True if its hardware limit is drawn as a line, unless that lies within the line width of the roof.
  bool shows_limit() const;
  std::string level_name() const;                ///< "HBM": name without the pattern
  std::string label() const;                     ///< "HBM read 4.67 TB/s"; marked if suspect
  std::string title() const;                     ///< name, rate, regime, interval and origin, in one line
  std::vector<std::string> title_notes() const;  ///< hardware limit, other ceilings of the roof, failed checks
};

/// Label for overlapping roofs: "BF16 · FP16 tensor 917 · 877 TFLOP/s". Common parts appear once. Never empty.
std::string shared_label(const std::vector<const Roof*>& roofs);

/// shared_label() without the values: "BF16 · FP16 tensor".
std::string shared_name(const std::vector<const Roof*>& roofs);

/// Values only, for sustained roofs next to the name of their burst roofs: "862 · 830 sustained".
std::string sustained_label(const std::vector<const Roof*>& roofs);

/// Intersection of a pipe's roof with the read roof of main memory.
struct Ridge {
  const Roof* roof = nullptr;
  double intensity = 0;  ///< FLOP/byte
};

struct Roofs {
  std::vector<Roof>
      memory;  ///< slopes, steepest first: a level's read roof, or its highest roof if read was not measured
  std::vector<Roof> patterns;  ///< copy, triad…: roofs of points that are not limited by the level's slope
  std::vector<Roof> compute;   ///< horizontal lines, highest first

  const Roof* main_memory() const;
  const Roof* main_compute() const;
  /// Ridges of the pipes that limit a point, lowest first; if memory limits all points, of the pipes that they use;
  /// without points, of the highest pipe. Empty without a compute or memory roof.
  std::vector<Ridge> ridges() const;
};

/// A ridge's FLOP/byte as text: "4.8", "14", "203".
std::string ridge_value(double intensity);
/// "ridge: fp32 14, bf16 203 FLOP/byte"; empty without a ridge.
std::string ridge_label(const Roofs& roofs);
/// "ridges 14–203 FLOP/byte", the short form.
std::string ridge_range(const Roofs& roofs);

/// Selects the roofs: one slope per level, plus its other patterns if they limit a point; the burst roof of each pipe,
/// plus the sustained one if it limits a point. References are never drawn. Ceilings without a positive finite value
/// are left out, as are links (pcie, nvlink) that no point uses. Network roofs appear only in charts of network
/// intensity.
Roofs roofs_of(const Report& report, Intensity of = Intensity::memory);

/// Unmeasured ceilings grouped by reason, in the order of their first occurrence.
std::vector<Unmeasured> by_reason(const std::vector<Unmeasured>& unmeasured);

}  // namespace roofline
