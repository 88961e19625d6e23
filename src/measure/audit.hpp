// The rules that a measured ceiling must pass before it is believed: pure functions, each returning one
// Check whose detail gives the figures. Measuring what they ask for is the calibration's business.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure/summary.hpp"
#include "model/ceiling.hpp"

namespace roofline {

/// A compute probe must lie 10 × above the ridge point, a memory probe 10 × below it, or it measures the
/// other resource. Both in FLOP/byte; intensity may be infinite (no bytes) or 0 (no FLOPs).
/// not_run for overheads and while no ridge is known (NaN).
Check audit_intensity(CeilingKind kind, double probe_intensity, double ridge);

/// Twice the work must take twice the time within 2 %: what the compiler removed takes none, and a fixed
/// cost takes the same. Fails when the whole interval of the ratio lies outside; when only the ratio does,
/// the noise is too great to decide: not_run.
Check audit_doubling(const Summary& once, const Summary& twice);

/// The same in cycles of the measured core clock, for what runs at that clock: twice the work lasts longer, draws
/// the power limiter nearer, and so may run at a lower clock without being a different kernel. In seconds where
/// a clock is missing.
Check audit_doubling_in_cycles(const Summary& once, const Summary& twice);

/// The working set must be at least 4 × the cache nearer to the cores, and must fit into `own_capacity_bytes`,
/// the level itself, where that is a cache. not_run when there is no nearer cache and no capacity (0 bytes).
Check audit_working_set(double working_set_bytes, double nearer_cache_bytes,
                        std::optional<double> own_capacity_bytes = std::nullopt);

/// The value must not exceed what the hardware could do, beyond its interval. The detail says which
/// fraction was reached and by which formula; it is never clamped. not_run without a limit.
Check audit_limit(double value, const Interval& ci95, const std::optional<Limit>& limit, std::string_view unit);

/// The 95 % interval must lie within ± 1 % of the value. Fails when there is no interval.
Check audit_interval(double value, const Interval& ci95);

/// The probe's result must be right. `failure` says why it is not.
Check audit_result(const std::optional<std::string>& failure);

/// The probe's time must have been steady: settled before, and no drift while sampling.
Check audit_steadiness(const Summary& time);

}  // namespace roofline
