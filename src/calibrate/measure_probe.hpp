// One probe → one ceiling in one or both regimes, or one sweep: search, sample, audit, in one stretch. On a CPU that is
// the way of sweeps and of what is sustained; burst ceilings take theirs in rounds (probe_rounds.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/sampling_plan.hpp"
#include "device/device.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A ceiling with the facts that an audit can only use once every ceiling is known.
struct MeasuredProbe {
  Ceiling ceiling;                   ///< burst
  std::optional<Ceiling> sustained;  ///< the same kernel after clock and power have settled
  double intensity = 0;              ///< the probe's own FLOP/byte; infinite where it touches no main memory
  std::optional<Pipe> pipe;          ///< that a bandwidth probe's few FLOPs run on
};

/// A ceiling, a sweep, or the reason why there is neither.
using ProbeOutcome = std::variant<MeasuredProbe, Sweep, std::string>;

/// Runs a probe on an open device. Throws PoisonedDevice when the device is lost; every other error
/// becomes a reason.
ProbeOutcome measure_probe(const Probe& probe, Device& device, const Effort& effort,
                           const std::function<bool()>& cancelled);

/// The sustained ceiling of one variant of a probe, beside its `burst` one; nothing when it is cancelled, or the
/// variant is wrong. Throws what the probe throws.
std::optional<Ceiling> measure_sustained(const Probe& probe, Device& device, const Effort& effort,
                                         const std::function<bool()>& cancelled, int variant, const Ceiling& burst);

/// The seconds that a probe is expected to take: for progress, and only as good as that.
double expected_seconds(const Probe& probe, const Effort& effort);

}  // namespace roofline
