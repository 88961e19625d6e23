// From a timed case of a probe to a ceiling: what it is, and the checks that ask for no time.
#pragma once

#include <optional>
#include <vector>

#include "device/device.hpp"
#include "op/probe.hpp"

namespace roofline {

/// The rates at which `amount` is done between so many seconds.
Interval rates_of(double amount, const Interval& seconds);

/// The ceiling of a case that took `seconds` a launch, within `ci95`, at `core_hz`: everything but its audit and how it
/// was sampled.
Ceiling ceiling_of(const Probe& probe, Device& device, const ProbeCase& made, double seconds, const Interval& ci95,
                   std::optional<double> core_hz);

/// Against the most that the hardware could do.
Check audit_limit_of(const Probe& probe, const Ceiling& ceiling);

/// What is counted, where the working set lies, and what operands and machine code look like. Asks the case for the
/// last two: it must still be whole.
std::vector<Check> audit_case(const Probe& probe, const Device& device, const ProbeCase& made);

}  // namespace roofline
