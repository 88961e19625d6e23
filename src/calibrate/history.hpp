// What the same machine did in earlier calibrations. It can be slow for as long as a calibration lasts (a neighbour on
// the host, another host after a migration), and nothing in that calibration tells.
#pragma once

#include <cstdint>
#include <string>

#include "model/machine.hpp"

namespace roofline {

/// The burst roofs of a CPU, and main memory's of a GPU, get what `kept`, the calibration before `now`, or one before
/// that reached, where it was more (`Ceiling::earlier`), and the check of it. Nothing where `kept` is of another host,
/// another state of the device (staleness()) or unsound, and nothing that is more than 30 days old at `now_s`, in
/// seconds since 1970.
void compare_with_history(Machine& now, const Machine& kept, std::int64_t now_s);

/// The other way about, in a sentence: that `kept` was the slow one, by over 3 %, and what was made with it. Empty
/// where it was not.
std::string was_slow(const Machine& now, const Machine& kept);

}  // namespace roofline
