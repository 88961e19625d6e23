// The rules that a measured ceiling must pass before it is believed: pure functions, each returning one
// Check whose detail gives the figures. Measuring what they ask for is the calibration's business.
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

/// Twice the work must take twice the time within 2 %: what the compiler removed takes none, and a fixed
/// cost takes the same. Fails when the whole interval of the ratio lies outside; when only the ratio does,
/// the noise is too great to decide: not_run.
Check audit_doubling(const Summary& once, const Summary& twice);
inline constexpr std::string_view kDoublingCheck = "twice the work, twice the time";

/// The same in cycles of the measured core clock, for what runs at that clock: twice the work lasts longer, draws
/// the power limiter nearer, and so may run at a lower clock without being a different kernel. In seconds where
/// a clock is missing.
Check audit_doubling_in_cycles(const Summary& once, const Summary& twice);

/// The same of two fast plateaus from the same rounds, in cycles if `in_cycles`. not_run while they are not both
/// `reached`: a plateau and what lies above one can't be compared.
Check audit_doubling(const FastPlateau& once, const FastPlateau& twice, bool reached, bool in_cycles);

/// Times the nearer cache, at least: what a cache level streams over; and a CPU's main memory, for its last level keeps
/// some of what streams through it.
inline constexpr double kPastNearerCache = 4;
inline constexpr double kPastLastLevel = 16;

/// The working set must be at least `least_times` the cache nearer to the cores, and must fit into
/// `own_capacity_bytes`, the level itself, where that is a cache. not_run when there is no nearer cache and no capacity
/// (0 bytes).
Check audit_working_set(double working_set_bytes, double nearer_cache_bytes,
                        std::optional<double> own_capacity_bytes = std::nullopt, double least_times = kPastNearerCache);

/// The value must not exceed what the hardware could do, beyond its interval and 0.2 % for the clock's own, and must
/// reach `least` of it (a share; 0 asks for nothing): less means chains too short, too few warps, or a specification
/// that is wrong. The detail says which fraction was reached and by which formula; it is never clamped. not_run without
/// a limit.
Check audit_limit(double value, const Interval& ci95, const std::optional<Limit>& limit, std::string_view unit,
                  double least = 0);

/// What a bandwidth is counted by must be the bytes of the work model, and their share of writes that of the
/// pattern (read 0, triad 1/3, copy 1/2, write 1): a triad counted as two streams is a third too low. What a
/// compute rate is counted by must be the operations of the work model. not_run for overheads and latencies.
Check audit_accounting(const Ceiling& ceiling, const Work& work);

/// Operands must be random, for zeros draw less power and so run at a higher clock: at least `kRandomBits` bits of
/// information in a byte (0 for constants; measured 6.4 to 8 for random values of every type). An empty sample fails.
Check audit_operands(std::span<const std::byte> sample);
inline constexpr double kRandomBits = 4;

/// The instruction that the ceiling speaks of must stand in the machine code. not_run when `found` is nothing: the
/// code could not be looked at, for the reason in `where`.
Check audit_instruction(std::string_view instruction, std::optional<int> found, std::string_view where);

/// A sustained rate must have been sampled for as long as was asked, after settling.
Check audit_duration(double sampled_s, double wanted_s);
inline constexpr std::string_view kLongEnoughCheck = "long enough to be sustained";

/// The 95 % interval must lie within ± 1 % of the value. Fails when there is no interval.
Check audit_interval(double value, const Interval& ci95);
inline constexpr std::string_view kIntervalCheck = "interval within 1 %";

/// The probe's result must be right. `failure` says why it is not.
Check audit_result(const std::optional<std::string>& failure);

/// In place of interval and steadiness where a limiter holds the clock down: it hunts about its limit with a period of
/// about a second, so that neighbouring samples say the same and no median of two seconds is known within 1 %. What
/// can be asked is that it hunts about one level: `shift`, by which the median of the second half of the samples
/// differs from that of the first (as a fraction), is within ± 2 %.
Check audit_regulation(const Summary& time, std::string_view limiter, double shift);
inline constexpr std::string_view kRegulatedCheck = "regulated about one level";

/// In place of steadiness where a value is a fast plateau: it must have been reached (FastPlateau::reached). A roof
/// whose rounds never agreed, or were probably all slowed, may be too low. `least_s` as there.
Check audit_plateau(const FastPlateau& plateau, double slowed_share, double least_s);
inline constexpr std::string_view kPlateauCheck = "fast plateau reached";

/// What a sustained compute ceiling does in a cycle must be what its burst one does, within 3 %: what limiters and
/// neighbours' turbo change is the clock, and less in a cycle means that something else slowed it. not_run where it
/// does more, which is no fault of its own, or a clock is missing.
Check audit_cycles(const Ceiling& sustained, const Ceiling& burst);
inline constexpr std::string_view kCyclesCheck = "as much in a cycle as in a burst";

/// An earlier calibration must not have reached more by over 3 %: this one was disturbed from its beginning to its end,
/// or the machine has become slower. Nor more in a cycle of the core clock, where it ran at another and the level is
/// not main memory, which has a clock of its own. not_run where none reached more.
Check audit_history(const Ceiling& ceiling);
inline constexpr std::string_view kHistoryCheck = "as fast as before";
inline constexpr double kSameAsBefore = 0.03;

/// Whether it is a check that fails where a machine does not hold still: the ceiling may be right, and is not known
/// well enough.
bool is_noise_check(const Check& check);

/// The probe's time must have been steady: settled before, and no drift while sampling.
Check audit_steadiness(const Summary& time);
inline constexpr std::string_view kSteadyCheck = "steady while timed";

}  // namespace roofline
