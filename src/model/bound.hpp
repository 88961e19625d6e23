// The bound of a kernel: its limiting resource, and how close the kernel is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "model/work.hpp"

namespace roofline {

enum class BoundLabel : std::uint8_t { memory, compute, latency, communication, balanced, unknown };
std::string_view to_string(BoundLabel label);
std::optional<BoundLabel> parse_bound_label(std::string_view text);

/// The minimum time of one resource for a launch's work, at its ceiling.
struct ResourceTime {
  std::string ceiling;  /// name of the ceiling, or of the pipe or level without one
  CeilingKind kind = CeilingKind::bandwidth;
  double amount = 0;              ///< FLOPs, bytes or launches
  double time_s = 0;              /// amount / ceiling; NaN without a ceiling
  Interval ci95;                  ///< interval of time_s, from the ceiling's
  Regime regime = Regime::burst;  ///< regime of the ceiling
  /// The kernel's clock, Hz, if it differs from the ceiling's and the ceiling was scaled to it.
  std::optional<double> at_clock_hz = {};
  /// The second ceiling, if the mix of reads and writes lies between two measured ones: `ceiling` is the nearer, and
  /// the rate is interpolated between both.
  std::optional<std::string> mixed_with = {};
};

/// `resources` is sorted by time, longest first; those without a ceiling come last and are kept.
struct Bound {
  BoundLabel label = BoundLabel::unknown;
  std::string limiting_ceiling;   /// empty if no resource has a ceiling
  double attainable_time_s = 0;   /// NaN if no resource has a ceiling
  Regime regime = Regime::burst;  ///< regime of the limiting ceiling
  bool suspect = false;           ///< the limiting ceiling, or the one that it is mixed with, failed its audit
  bool provisional = false;       ///< one of them is not confirmed, without a sign of a fault
  std::vector<ResourceTime> resources;
  double arithmetic_intensity = 0;  ///< FLOP/byte at main memory
  /// The classic ridge point: dominant pipe's ceiling over the memory ceiling, FLOP/byte. NaN if either is missing.
  double ridge = 0;
};

/// The bound rule: the attainable time is the largest resource time; its resource is the limiting ceiling. Unknown if
/// the pipe of most operations or main memory has no ceiling: the other one alone does not show what limits the kernel.
/// If the 95 % intervals of the two largest times overlap, and they are of different kinds, the label is `balanced`. A
/// collective has two resources: its bytes at its bus bandwidth, and its latency by its line. `core_hz` is the
/// kernel's clock, if known: its pipes are compared with the regime whose clock is nearer, scaled to the kernel's
/// clock if the two clocks differ by more than 1 % (operations per cycle belong to the pipe, cycles per second to
/// the power limiter). Memory and launch ceilings are not scaled, because other clocks drive them. Bytes of main memory
/// that a cache serves (Work::cache) are compared with that cache's ceilings, and the work of one of several threads
/// with those of one core.
Bound bound_of(const Work& work, const Machine& machine, std::optional<double> core_hz = std::nullopt);

/// The roof without which the label is unknown although others are known: the pipe of most operations, or main memory
/// (or the cache that serves it). Empty if the label is known, or if no resource has a ceiling.
std::string missing_roof(const Bound& bound);

/// attainable / measured time. Never clamped: above 1 is a finding.
double fraction_of_roof(const Bound& bound, double measured_time_s);

}  // namespace roofline
