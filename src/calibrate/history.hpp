// Comparison with earlier calibrations of the same machine. A machine can be slow during a whole calibration (other
// tenants of the host, another host after a migration), which that calibration cannot show.
#pragma once

#include <cstdint>
#include <string>

#include "model/machine.hpp"

namespace roofline {

/// Sets `Ceiling::past_best` of a CPU's burst roofs, and of a GPU's main-memory roofs, to the best value of `kept` (the
/// previous calibration) or of those before it, if it was higher, and adds the check. No change if `kept` is of another
/// host, another state of the device (staleness()) or unreliable. Values older than 30 days at `now_s` (seconds since
/// 1970) are ignored.
void compare_with_history(Machine& now, const Machine& kept, std::int64_t now_s);

/// Adds the ceilings and sweeps of `kept` (the previous calibration) for which `now` had no time, each with its date.
/// No change if `kept` is of another host or another state of the device (staleness()), or if `now` is quick or was
/// cancelled: such a calibration does not replace a full one.
void keep_earlier_ceilings(Machine& now, const Machine& kept);

/// Warning that the previous calibration `kept` was slower by more than 3 %, so that reports made with it are affected.
/// Empty if it was not.
std::string was_slow(const Machine& now, const Machine& kept);

}  // namespace roofline
