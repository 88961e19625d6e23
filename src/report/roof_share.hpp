// How near a point is to its roof, with its interval, and by both clocks: the one that it ran at, and the roof's own.
#pragma once

#include <optional>
#include <string>

#include "measure/summary.hpp"
#include "report/report.hpp"

namespace roofline {

/// The paired fraction with its interval, otherwise attainable over measured time, never clamped. The interval then
/// joins those of the roof and of the median (NaN where one of them could not be had).
struct RoofShare {
  double fraction = 0;
  Interval ci95;
};

/// Of the roof at the kernel's own clock. NaN when not timed or no ceiling applies.
RoofShare share_of_roof(const Point& point);

/// Of the burst roof at its own clock, as if no limiter acted. Nothing where the limiting ceiling is that one already.
std::optional<RoofShare> share_of_burst_roof(const Point& point, const Machine& machine);

/// Whether its roof was measured on as few threads as it ran on.
bool has_roof_of_own_threads(const Point& point);

/// Of what all threads of the run could do: the fraction of the roof times the attainable time on all threads, one
/// region of the thread pool included, over that on the row's own. The same as the fraction where it ran on all of
/// them; NaN where there is none.
double fraction_on_all_threads(const Point& point, const Machine& machine);

/// The part of a row's time that all threads would save by the roofs of its own threads and of all: at the same
/// fraction of either. Without roofs of its own threads what it lacks of the roof of all. At most what perfect scaling
/// saves. Nothing where it ran on all threads or has no roof.
std::optional<double> saving_on_all_threads(const Point& point, const Machine& machine);

/// The part of a row's time that it lacks of the roof of the threads it ran on. Without such a roof at least so much:
/// a part of the threads has that part of the roof of all, or more. NaN where it has no roof.
double saving_on_own_threads(const Point& point, const Machine& machine);
/// Whether that is more than all threads would save.
bool lacks_more_than_idle_threads_cost(const Point& point, const Machine& machine);

/// The share of its roof that the reference probes reached beside the row: memory by the copy probe, arithmetic and
/// caches, which have the clock of the cores, by the FMA probe. Nothing where they did not run.
std::optional<double> reference_rate_of_roof(const Point& point);

/// Seconds per launch at the speed at which the roofs were calibrated: the measured time, or attainable time over the
/// paired fraction. Quantities that compare the row with calibrated roofs use it.
double time_at_roof_speed(const Point& point);

/// Whether the reference probes beside the row were slow (kSlowReference): its absolute time is then the machine's.
bool is_slowed(const Point& point);

/// Whether contention or background slowdown dominated its time, so that nothing is known about the kernel. A paired
/// fraction is valid at any speed of the machine.
bool is_under_contention(const Point& point);

/// "90–98", in per cent; empty where there is no interval, or one narrower than its last digit.
std::string interval_text(const RoofShare& share);
/// "91.1 % (90–98 %)"; without an interval the share alone; "—" without a roof.
std::string share_text(const RoofShare& share);

/// Width over the median; a wider interval allows no conclusions.
constexpr double kWidestInterval = 0.1;

/// Whether the row is known too badly to conclude anything from it: a paired fraction whose interval is wider than a
/// tenth of it; without one a time that is drifting, with an interval wider than a tenth of the median, or none (too
/// few independent samples) where the samples are not close together.
bool badly_measured(const Point& point);

/// Whether there are samples enough for an interval, if they were independent, and nine tenths of them lie within a
/// tenth of their median: whatever the interval is, the time is somewhere there.
bool has_small_spread(const Summary& time);

}  // namespace roofline
