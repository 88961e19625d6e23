// The counters that are read inside a program.
#pragma once

#include <string>

namespace roofline {

/// The metrics file of a spool folder (inject/spool.hpp), one quantity per line. The order determines the number of
/// passes; metrics that require a range of our own are not included.
std::string metrics_text();

}  // namespace roofline
