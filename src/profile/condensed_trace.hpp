// A rank's trace reduced to what is needed to match collectives: its size depends on the number of collectives, not of
// launches.
#pragma once

#include <filesystem>
#include <string>

#include "profile/process_trace.hpp"

namespace roofline {

/// Suffix of the condensed trace that a rank writes beside its spool.
inline constexpr const char* kCondensedExtension = ".ranks";

/// The trace with its collectives, and other activity as unnamed spans: at their place if they overlap a collective,
/// otherwise merged into one span of equal length between two collectives. Gaps up to 5 us are part of a span.
ProcessTrace condensed(const ProcessTrace& trace);

/// True if a rank of a job ran collectives here; only then is its trace condensed.
bool can_be_condensed(const ProcessTrace& trace);

/// The trace in the spool format, readable by read_spool().
std::string write_condensed(const ProcessTrace& condensed);

}  // namespace roofline
