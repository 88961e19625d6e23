// The CUPTI that this process reads counters with, opened at first use.
#pragma once

#include <string>

#include "cupti/profiler.hpp"

namespace roofline {

/// Throws Error where CUPTI is missing or too old.
const CuptiProfiler& cupti();

/// "CUPTI 13.0 on GH100": the version of the headers this build has.
std::string counter_source(const std::string& chip);

}  // namespace roofline
