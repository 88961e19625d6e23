// Distance of a point to its roof, with interval, at the clock of the kernel and at the clock of the roof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/summary.hpp"
#include "report/report.hpp"

namespace roofline {

/// The paired fraction with its interval, otherwise attainable over measured time, never clamped; that interval
/// combines those of the roof and of the median (NaN if either is missing).
struct RoofShare {
  double fraction = 0;
  Interval ci95;
};

/// Share of the roof at the kernel's own clock. NaN if not timed or without a ceiling.
RoofShare share_of_roof(const Point& point);

/// What the share of a row is of, where a reader could take it for another.
enum class ShareBasis : std::uint8_t {
  roof,      ///< the calibrated roof, as in the other rows; or the probe beside it, which was about as fast
  probe,     ///< the probe beside it, which was slower or faster than its roof by more than kOtherPace
  unpaired,  ///< the calibrated roof, but most other rows of the report are paired
};
constexpr double kOtherPace = 0.05;
ShareBasis share_basis(const Point& point, const Report& report);
/// True if a row of the report is paired with its roof's probe.
bool has_pairs(const Report& report);
/// "51.8 GB/s beside it, roof 83.3 GB/s": the rates of a paired row's probe and of its roof. Empty for other rows and
/// where the probe's is not known.
std::string probe_rates_text(const Point& point);
/// What follows "its probe": ": 51.8 GB/s beside it, roof 83.3 GB/s", or " beside it" where the rates are not known.
std::string beside_probe(const Point& point);

/// Share of the burst roof at its own clock, as if no limiter acted. std::nullopt if that is already the limiting
/// ceiling.
std::optional<RoofShare> share_of_burst_roof(const Point& point, const Machine& machine);

/// True if the row's roof was measured on as few threads as the row used.
bool has_roof_of_own_threads(const Point& point);

/// Fraction of what all threads could reach: the fraction of the roof times the attainable time on all threads,
/// including one parallel region, over that on the row's own threads. Equal to the fraction if it used all threads; NaN
/// without one.
double fraction_on_all_threads(const Point& point, const Machine& machine);

/// Part of a row's time that using all threads would save, by the roofs of its own and of all threads, at the same
/// fraction of either. Without roofs of its own threads: the gap to the roof of all threads. At most the saving of
/// perfect scaling. std::nullopt if it used all threads or has no roof.
std::optional<double> saving_on_all_threads(const Point& point, const Machine& machine);

/// Part of a row's time above the roof of its own threads. Without such a roof, a lower bound: some of the threads have
/// at least their share of the roof of all. NaN without a roof.
double saving_on_own_threads(const Point& point, const Machine& machine);
/// True if saving_on_own_threads() exceeds the saving on all threads.
bool lacks_more_than_idle_threads_cost(const Point& point, const Machine& machine);

/// Share of the roofs that the reference probes reached beside the row: the copy probe for memory, the FMA probe for
/// arithmetic and caches, which run at the core clock. std::nullopt if they did not run.
std::optional<double> reference_rate_of_roof(const Point& point);

/// Seconds per launch at the machine speed of the calibration: the measured time, or the attainable time over the
/// paired fraction. Used to compare a row with calibrated roofs.
double time_at_roof_speed(const Point& point);

/// True if the reference probes beside the row were slow (kSlowReference), so that its absolute time describes the
/// machine.
bool is_slowed(const Point& point);

/// True if contention or background slowdown dominated the time, so that it does not characterise the kernel. Paired
/// fractions are valid at any machine speed.
bool is_under_contention(const Point& point);

/// "90–98", in per cent; empty without an interval, or if it is narrower than its last digit.
std::string interval_text(const RoofShare& share);
/// "91.1 % (90–98 %)"; the share alone without an interval; "—" without a roof.
std::string share_text(const RoofShare& share);

/// Core clock of a launch that another tool replayed to count it, by its counters. Its bound is not scaled to that
/// clock. std::nullopt if it is not known, and for times of the program itself.
std::optional<double> replay_clock_hz(const Point& point);
/// Core clock of a compute roof: while it was measured, or which the device's attributes give it.
std::optional<double> clock_of_roof(const Ceiling& roof, const Machine& machine);
/// Replays at less than this part of the roof's clock are told from kernels that are slow.
constexpr double kSameReplayClock = 0.95;

/// Width over the median; wider intervals allow no conclusions.
constexpr double kWidestInterval = 0.1;

/// True if the row is too uncertain for conclusions: a paired fraction with an interval wider than a tenth of it;
/// without one, a drifting time, an interval wider than a tenth of the median, or no interval (too few independent
/// samples) and a large spread.
bool badly_measured(const Point& point);

/// Of a badly measured row: the width of the interval of its median in seconds, or of all samples if they drift. 0: the
/// time is precise.
double uncertainty_of_time(const Point& point);

/// True if there are enough samples for an interval and nine tenths of them lie within a tenth of their median.
bool has_small_spread(const Summary& time);

}  // namespace roofline
