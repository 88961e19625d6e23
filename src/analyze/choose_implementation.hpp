// The implementation that a row runs. Only the device process can decide, because it may refuse the fastest one.
#pragma once

#include <optional>
#include <string_view>

#include "config/suite.hpp"
#include "device/device.hpp"

namespace roofline {

/// The entry with the fastest implementation that the device accepts: its own or, if the suite left the choice, an
/// earlier one. With its own if all are refused. Not for entries with a reason to skip.
SuiteEntry choose_implementation(const SuiteEntry& entry, const Device& device);

/// The entry with the implementation of that name; unchanged if there is none.
SuiteEntry with_implementation(const SuiteEntry& entry, std::string_view name);

/// The CPU implementation that the device accepts for the workload's type: the one that the workload names, or the best
/// one. std::nullopt if there is none.
std::optional<Implementation> implementation_for(const Op& op, const Workload& workload, const Device& device);

}  // namespace roofline
