// Common to probes of one kind on all devices.
#pragma once

#include <string>
#include <utility>

#include "op/probe.hpp"

namespace roofline {

/// A bandwidth probe; a sweep over levels has no level.
inline Probe bandwidth_probe(DeviceKind device, std::string name, std::optional<Level> level, Pattern pattern) {
  return {
      .name = std::move(name), .device = device, .kind = CeilingKind::bandwidth, .level = level, .pattern = pattern};
}

/// The rate of a pipe, named after it.
inline Probe compute_probe(DeviceKind device, Pipe pipe) {
  return {.name = std::string(to_string(pipe)), .device = device, .kind = CeilingKind::compute, .pipe = pipe};
}

}  // namespace roofline
