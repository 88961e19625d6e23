// Which counters are read inside of a program.
#pragma once

#include <string>

namespace roofline {

/// The metrics file of a spool folder (inject/spool.hpp): a line a quantity. The order decides how few passes they fit
/// into; what only a range of our own would make sense of is not in it.
std::string metrics_text();

}  // namespace roofline
