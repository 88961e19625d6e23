// Changes of a machine for what-ifs. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/machine.hpp"

namespace roofline {

/// Multiplies the ceilings whose names match `glob` ("hbm.*", "tensor.bf16"). The number of them.
std::size_t scale_ceilings(Machine& machine, std::string_view glob, double factor);

/// Sets the highest core clock: pipes and caches follow it, memory and links do not. Roofs that a power limit holds
/// below the new clock stay. False if the machine's clock is not known; it is then unchanged.
bool set_core_clock(Machine& machine, double hz);

/// Sets the power limit: a pipe or cache whose sustained roof needs more power gets a lower clock, so that its power
/// above idle, which follows the cube of the clock, fits. A roof that the old limit slowed gets a higher clock, at most
/// that of its burst roof. False if no roof has measured power; the machine is then unchanged.
bool set_power_limit(Machine& machine, double watts);

/// Sets the number of SMs: pipes, L1 and shared memory follow it. False if the machine's number is not known.
bool set_sms(Machine& machine, std::int64_t count);

}  // namespace roofline
