// Differences in conditions between two measurements of a row: chosen configuration, clocks, other load, background
// slowdown.
#pragma once

#include <optional>
#include <string>

#include "report/report.hpp"

namespace roofline {

struct RowConditions {
  /// Chosen configurations, both or neither: set if the choices differ.
  std::string configuration_before = {}, configuration_now = {};
  /// Core clocks, both or neither: set if they differ by more than kOtherRowClock.
  std::optional<double> clock_before_hz = {}, clock_now_hz = {};
  std::optional<Contention> contention_before = {}, contention_now = {};  ///< only if significant
  /// The share of its roof that the reference probe reached, if it was slow.
  std::optional<double> reference_before = {}, reference_now = {};

  bool empty() const;
};

/// Clock difference, as a fraction, beyond what two runs on one machine show.
inline constexpr double kOtherRowClock = 0.03;

/// Compares the row of each run; either may be null.
RowConditions conditions_of(const Point* before, const Point* now);

/// "block=128 before, block=256 now; clock 3.1 GHz before, 2.6 GHz now; now: other programs used 1.1 of 2 cores"; empty
/// without differences.
std::string conditions_text(const RowConditions& conditions);

}  // namespace roofline
