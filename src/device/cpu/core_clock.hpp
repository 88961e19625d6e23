// The core clock, measured without privileges: a chain of dependent integer additions takes one cycle each.
#pragma once

#include <optional>

namespace roofline {

/// Clock of the calling thread's core right now, in Hz; nothing on an architecture without the chain.
/// Takes about 30 µs: the better of two chains of some 15 µs, as an interruption makes a chain look slow.
std::optional<double> measure_core_hz();

}  // namespace roofline
