// Which implementation of a ladder a row runs: only the device can tell, for it may refuse the best one.
#pragma once

#include <string_view>

#include "config/suite.hpp"
#include "device/device.hpp"

namespace roofline {

/// The entry with the best implementation that the device runs: its own, or, where the suite has left the choice, one
/// below it. With its own where all are refused. Not for entries that have a reason to skip.
SuiteEntry choose_implementation(const SuiteEntry& entry, const Device& device);

/// The entry with its implementation of that name; as it is where it has none of that name.
SuiteEntry with_implementation(const SuiteEntry& entry, std::string_view name);

}  // namespace roofline
