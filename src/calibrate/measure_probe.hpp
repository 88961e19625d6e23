// One probe → one ceiling in one or both regimes, or one sweep, without interruption: search, sample, audit. On a
// CPU this is used for sweeps and sustained ceilings; burst ceilings are measured in rounds (probe_rounds.hpp).
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

/// A ceiling with data for audits that need all ceilings.
struct MeasuredProbe {
  Ceiling ceiling;                   ///< burst
  std::optional<Ceiling> sustained;  /// the same kernel after clock and power have stabilised
  double intensity = 0;              /// the probe's FLOP/byte; infinite if it accesses no main memory
  std::optional<Pipe> pipe;          /// the pipe of a bandwidth probe's few FLOPs
};

/// A ceiling, a sweep, or the reason for neither.
using ProbeOutcome = std::variant<MeasuredProbe, Sweep, std::string>;

/// Runs a probe on an open device. Throws PoisonedDevice if the device is lost; every other error becomes a reason.
ProbeOutcome measure_probe(const Probe& probe, Device& device, const Effort& effort,
                           const std::function<bool()>& cancelled);

/// The sustained ceiling of one variant of a probe, beside its `burst` one; std::nullopt if it is cancelled or the
/// variant's result is wrong. Rethrows the probe's exceptions.
std::optional<Ceiling> measure_sustained(const Probe& probe, Device& device, const Effort& effort,
                                         const std::function<bool()>& cancelled, int variant, const Ceiling& burst);

/// Expected duration of a probe, for progress only.
double expected_seconds(const Probe& probe, const Effort& effort);

}  // namespace roofline
