// Checks that a measured ceiling must pass. Pure functions, each returning one Check with the figures in its detail.
// The calibration measures their inputs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/fast_plateau.hpp"
#include "measure/summary.hpp"
#include "model/ceiling.hpp"
#include "model/work.hpp"

namespace roofline {

/// A compute probe must lie 10 × above the ridge point, a memory probe 10 × below it, or it measures the
/// other resource. Both in FLOP/byte; intensity may be infinite (no bytes) or 0 (no FLOPs).
/// not_run for overheads and latencies and while no ridge is known (NaN).
Check audit_intensity(CeilingKind kind, double probe_intensity, double ridge);
inline constexpr std::string_view kIntensityCheck = "intensity clear of the ridge";

/// Twice the work must take twice the time within 2 %: removed code takes none, and a fixed cost stays the same.
/// Fails if the whole interval of the ratio is outside; not_run if only the ratio is.
Check audit_doubling(const Summary& once, const Summary& twice);
inline constexpr std::string_view kDoublingCheck = "twice the work, twice the time";

/// The same in cycles of the measured core clock, for work that runs at that clock: twice the work draws more
/// power, and may run at a lower clock under the power limiter. In seconds if a clock is missing.
Check audit_doubling_in_cycles(const Summary& once, const Summary& twice);

/// The same for two fast plateaus from the same rounds, in cycles if `in_cycles`. not_run until both are `reached`.
Check audit_doubling(const FastPlateau& once, const FastPlateau& twice, bool reached, bool in_cycles);

/// Minimum factor over the inner cache: for a cache level, and for a CPU's main memory, whose last-level cache
/// keeps part of what streams through it.
inline constexpr double kPastNearerCache = 4;
inline constexpr double kPastLastLevel = 16;

/// Bytes of the caches before a level: measured capacity, and reported capacity where that was measured.
struct NearerCache {
  double bytes = 0;
  std::optional<double> reported_bytes = {};
};

/// The working set must be at least `least_times` the inner cache, and must fit in `own_capacity_bytes`, the level
/// itself, if that is a cache. provisional where it is kPastNearerCache times the cache and not `least_times`: some of
/// it may stay there. not_run if there is neither (0 bytes).
Check audit_working_set(double working_set_bytes, const NearerCache& nearer,
                        std::optional<double> own_capacity_bytes = std::nullopt, double least_times = kPastNearerCache);
inline constexpr std::string_view kWorkingSetCheck = "working set where it belongs";

inline constexpr double kClockScatter = 0.002;  ///< readings of one clock scatter by about 0.1 %
/// The value must not exceed the hardware limit, beyond its interval and the error of its clock, and must reach
/// `least` of it (a share; 0 requires nothing): less means too short chains, too few warps, or a wrong
/// specification. The detail gives fraction and formula; it is never clamped. not_run without a limit.
Check audit_limit(double value, const Interval& ci95, const std::optional<Limit>& limit, std::string_view unit,
                  double least = 0, double clock_error = kClockScatter);
inline constexpr std::string_view kLimitCheck = "under the hardware's limit";

/// The amount of a bandwidth must be the bytes of the work model, and their share of writes that of the pattern
/// (write_share()): a triad counted as two streams is a third too low. The amount of a
/// compute rate must be the operations of the work model. not_run for overheads and latencies.
Check audit_accounting(const Ceiling& ceiling, const Work& work);
inline constexpr std::string_view kAccountingCheck = "counted by the work model";

/// Operands must be random, because zeros draw less power and run at a higher clock: at least `kRandomBits` bits of
/// entropy per byte (0 for constants; measured 6.4 to 8 for random values of every type). An empty sample fails.
Check audit_operands(std::span<const std::byte> sample);
inline constexpr std::string_view kOperandsCheck = "operands are random";
inline constexpr double kRandomBits = 4;

/// The ceiling's instruction must occur in the machine code. not_run if `found` is std::nullopt: the code could not be
/// inspected, for the reason in `where`.
Check audit_instruction(std::string_view instruction, std::optional<int> found, std::string_view where);
inline constexpr std::string_view kInstructionCheck = "instruction in the machine code";

/// A sustained rate must have been sampled for the requested time after the warm-up.
Check audit_duration(double sampled_s, double wanted_s);
inline constexpr std::string_view kLongEnoughCheck = "long enough to be sustained";

/// The 95 % interval must be within ± 1 % of the value. Fails without an interval.
Check audit_interval(double value, const Interval& ci95);
inline constexpr std::string_view kIntervalCheck = "interval within 1 %";

/// The probe's result must be correct; `failure` is the reason if it is not.
Check audit_result(const std::optional<std::string>& failure);
inline constexpr std::string_view kResultCheck = "result verified";

/// Instead of the interval and steadiness checks if a limiter lowers the clock: it oscillates with a period of
/// about a second, so that adjacent samples are correlated and no median of two seconds is known within 1 %.
/// `shift`, the relative difference between the medians of both halves of the samples, must be within ± 2 %,
/// unless the work per cycle is that of the burst ceiling (`same_in_a_cycle`): then the clock alone moved.
Check audit_regulation(const Summary& time, std::string_view limiter, double shift, bool same_in_a_cycle = false);
inline constexpr std::string_view kRegulatedCheck = "regulated about one level";

/// Instead of the steadiness check for a fast plateau, which must have been reached (FastPlateau::reached). A roof
/// whose rounds never agreed, or were probably all slowed, may be too low. `least_s` as there.
Check audit_plateau(const FastPlateau& plateau, double slowed_share, double least_s);
inline constexpr std::string_view kPlateauCheck = "fast plateau reached";

/// A sustained compute ceiling must do the work per cycle of its burst one, within 3 %: limiters and shared turbo
/// change the clock only, and less per cycle has another cause. not_run if it does more, which is not its fault, or
/// if a clock is missing.
Check audit_cycles(const Ceiling& sustained, const Ceiling& burst);
inline constexpr std::string_view kCyclesCheck = "as much in a cycle as in a burst";

/// No earlier calibration may have reached over 3 % more, or over twice what the speed varied by during this one, at
/// most 10 %: otherwise this one was slowed throughout, or the machine has become slower. Compared per core-clock cycle
/// if the clocks differ, except for main memory, which has its own clock. provisional if the ceiling is; not_run if
/// none reached more.
Check audit_history(const Ceiling& ceiling);
inline constexpr std::string_view kHistoryCheck = "as fast as before";
inline constexpr double kSameAsBefore = 0.03;

/// True for a suspect ceiling that failed no other check.
bool is_only_slower_than_before(const Ceiling& ceiling);

/// True for checks that fail on a noisy machine: the ceiling may be right, but is not known precisely enough.
bool is_noise_check(const Check& check);

/// Failed checks of noise, and of doubling beside one, become provisional where no load of others was measured
/// (Ceiling::contention): they are no evidence of a fault.
void settle_noise_checks(Ceiling& ceiling);

/// The probe's time must have been steady: a stable warm-up, and no drift while sampling.
Check audit_steadiness(const Summary& time);
inline constexpr std::string_view kSteadyCheck = "steady while timed";

}  // namespace roofline
