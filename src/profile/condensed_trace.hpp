// What the collectives of many ranks are matched by, of one of them: as much as it has collectives, however many
// kernels it launched.
#pragma once

#include <filesystem>
#include <string>

#include "profile/process_trace.hpp"

namespace roofline {

/// Of a spool's name, with this ending: the condensed trace beside it, which its rank has written.
inline constexpr const char* kCondensedExtension = ".ranks";

/// The trace with its collectives, and its other activity as spans without names: those that run beside a collective
/// where they are, those between two collectives as one span of their length. Gaps of up to 5 us are part of a span.
ProcessTrace condensed(const ProcessTrace& trace);

/// Whether a rank of a job ran collectives here: only then is it condensed.
bool can_be_condensed(const ProcessTrace& trace);

/// As the bytes of a spool, which read_spool() reads.
std::string write_condensed(const ProcessTrace& condensed);

}  // namespace roofline
