// roofline monitor --check: a copy of known size under the very sampling that monitor uses.
#pragma once

#include "cli/options.hpp"
#include "monitor/rates.hpp"

namespace roofline {

/// Prints what was found for each GPU among them and keeps it. workload_failed where a GPU's bytes are wrong or could
/// not be checked.
ExitCode check_bytes(const std::vector<Watched>& devices, const MonitorCommand& command);

}  // namespace roofline
