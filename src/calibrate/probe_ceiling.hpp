// From a timed case of a probe to a ceiling, and the checks that need no time.
#pragma once

#include <optional>
#include <vector>

#include "device/device.hpp"
#include "op/probe.hpp"

namespace roofline {

/// The rates of `amount` for an interval of seconds.
Interval rates_of(double amount, const Interval& seconds);

struct MeasuredClock {
  std::optional<double> after_work;     ///< core clock in Hz right after the samples, as kernels' are read
  std::optional<double> in_work_ratio;  ///< of the clock among the instructions to that; nothing: not measured

  std::optional<double> in_work() const {
    return after_work ? std::optional(*after_work * in_work_ratio.value_or(1)) : std::nullopt;
  }
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
