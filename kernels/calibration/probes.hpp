// What probes of one kind have in common, on every device.
#pragma once

#include <string>
#include <utility>

#include "op/probe.hpp"

namespace roofline {

/// A bandwidth; a sweep over levels has none.
inline Probe bandwidth_probe(DeviceKind device, std::string name, std::optional<Level> level, Pattern pattern) {
  return {
      .name = std::move(name), .device = device, .kind = CeilingKind::bandwidth, .level = level, .pattern = pattern};
}

/// The rate of a pipe, under its name.
inline Probe compute_probe(DeviceKind device, Pipe pipe) {
  return {.name = std::string(to_string(pipe)), .device = device, .kind = CeilingKind::compute, .pipe = pipe};
}

}  // namespace roofline
