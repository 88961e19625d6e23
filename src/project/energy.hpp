// The energy of projected times: measured power of the limiting roofs, otherwise the power limit. Pure.
#pragma once

#include <optional>

#include "model/machine.hpp"

namespace roofline {

struct Projection;

struct Energy {
  double joules = 0;         ///< of a step on all its GPUs, or of all rows
  bool upper_bound = false;  ///< a part was computed from the power limit
};

/// Watts that the driver or the data sheet states; std::nullopt if neither does.
std::optional<double> power_limit(const DeviceInfo& device);
void set_power_limit_attribute(DeviceInfo& device, double watts);

/// std::nullopt if a part of the time has neither measured power nor a power limit, or if there is no time.
std::optional<Energy> energy_of(const Projection& projection, const Machine& machine);

}  // namespace roofline
