// roofline monitor --check: compares counted bytes with a copy of known size, sampled as monitor does.
#pragma once

#include <vector>

#include "model/error.hpp"
#include "monitor/rates.hpp"

namespace roofline {

/// Prints what was found for each GPU among them and keeps it; as documents with `json`. workload_failed where a GPU's
/// bytes are wrong or could not be checked.
ExitCode check_bytes(const std::vector<Watched>& devices, bool json);

}  // namespace roofline
