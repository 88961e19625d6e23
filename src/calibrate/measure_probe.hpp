// One probe → one ceiling: search the variants, sample the best, and gather what its audit needs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "device/device.hpp"
#include "measure/sampler.hpp"
#include "op/probe.hpp"

namespace roofline {

/// A ceiling with the facts that an audit can only use once every ceiling is known.
struct MeasuredProbe {
  Ceiling ceiling;
  double intensity = 0;      ///< the probe's own FLOP/byte; infinite where it touches no main memory
  std::optional<Pipe> pipe;  ///< that a bandwidth probe's few FLOPs run on
};

/// The ceiling, or the reason why there is none.
using ProbeOutcome = std::variant<MeasuredProbe, std::string>;

/// Runs a probe on an open device. Throws PoisonedDevice when the device is lost; every other error
/// becomes a reason.
ProbeOutcome measure_probe(const Probe& probe, Device& device, bool quick, const std::function<bool()>& cancelled);

}  // namespace roofline
