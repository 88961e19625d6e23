// From a timed case of a probe to a ceiling, and the checks that need no time.
#pragma once

#include <optional>
#include <vector>

#include "device/device.hpp"
#include "op/probe.hpp"

namespace roofline {

/// The rates of `amount` for an interval of seconds.
Interval rates_of(double amount, const Interval& seconds);

/// Core clocks in Hz.
struct MeasuredClock {
  std::optional<double> after_work;  ///< right after the samples, as kernels' are read
  std::optional<double> in_work;     ///< among the instructions; std::nullopt: not measured, assumed to be the same
};

/// The ceiling of a case that took `seconds` per launch, within `ci95`, at that clock: everything except its audit
/// and sampling data.
Ceiling ceiling_of(const Probe& probe, Device& device, const ProbeCase& made, double seconds, const Interval& ci95,
                   const MeasuredClock& clock);

/// Check against the hardware limit.
Check audit_limit_of(const Probe& probe, const Ceiling& ceiling);

/// Checks of accounting, working set, operands and machine code. The case must still be complete for the last two.
std::vector<Check> audit_case(const Probe& probe, const Device& device, const ProbeCase& made);

}  // namespace roofline
