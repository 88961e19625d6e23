// Comparison with earlier calibrations of the same machine. A machine can be slow during a whole calibration (other
// tenants of the host, another host after a migration), which that calibration cannot show.
#pragma once

#include <cstdint>
#include <string>

#include "model/machine.hpp"

namespace roofline {

/// Sets `Ceiling::past_best` of a CPU's burst roofs, and of a GPU's main-memory roofs, to the best value of `kept`
/// (the previous calibration) or of those before it, if it was higher, and adds the check. Does nothing if `kept`
/// is of another host, another state of the device (staleness()) or unreliable; ignores values older than 30 days
/// at `now_s`, in seconds since 1970.
void compare_with_history(Machine& now, const Machine& kept, std::int64_t now_s);

/// The reverse, as a sentence: `kept` was slow, by over 3 %, and affects what was made with it. Empty if it was
/// not.
std::string was_slow(const Machine& now, const Machine& kept);

}  // namespace roofline
