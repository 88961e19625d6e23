// Facts that a run records about its environment: the operating system and the time of day.
#pragma once

#include <string>

namespace roofline {

/// "Linux 6.1.0-18-amd64 x86_64".
std::string host_description();

/// The machine's name in its network; empty where it has none.
std::string host_name();

/// Now, as "2026-11-21T04:30:00Z".
std::string utc_now();

/// Seconds on a clock that never goes back.
double wall_seconds();

}  // namespace roofline
