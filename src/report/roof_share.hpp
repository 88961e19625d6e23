// How near a point is to its roof, with its interval, and by both clocks: the one that it ran at, and the roof's own.
#pragma once

#include <optional>
#include <string>

#include "measure/summary.hpp"
#include "report/report.hpp"

namespace roofline {

/// Attainable over measured time, never clamped. The interval joins those of the roof and of the median (NaN where one
/// of them could not be had).
struct RoofShare {
  double fraction = 0;
  Interval ci95;
};

/// Of what the kernel's own clock allows: the bound rule's answer. NaN when not timed or no ceiling applies.
RoofShare share_of_roof(const Point& point);

/// Of the burst roof, at the clock that it was measured at: what there would be to win with all power and no limiter.
/// Nothing where the limiting ceiling has not been moved to another clock or regime.
std::optional<RoofShare> share_of_burst_roof(const Point& point, const Machine& machine);

/// Of its roof, what the machine's pace beside the row left: memory at the pace of copying, arithmetic at its own. What
/// has work for a part of the time only may run at a slower pace and cost nothing. Nothing where no pace was measured.
std::optional<double> reference_rate_of_roof(const Point& point);

/// Whether its time says more of what else went on than of the kernel.
bool is_under_contention(const Point& point);

/// "90–98", in per cent; empty where there is no interval, or one narrower than its last digit.
std::string interval_text(const RoofShare& share);
/// "91.1 % (90–98 %)"; without an interval the share alone; "—" where there is none.
std::string share_text(const RoofShare& share);

/// Of its median, end to end: wider, and nothing can be concluded from a time.
constexpr double kWidestInterval = 0.1;

/// Whether the row's time is known too badly to conclude anything from it: drifting, an interval wider than a tenth of
/// the median, or none (too few independent samples) where the samples don't lie as close themselves.
bool badly_measured(const Point& point);

/// Whether there are samples enough for an interval, if they were independent, and nine tenths of them lie within a
/// tenth of their median: whatever the interval is, the time is somewhere there.
bool lie_close(const Summary& time);

}  // namespace roofline
