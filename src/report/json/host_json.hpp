// The host side of a profile to and from JSON (docs/report-schema.md, "host"). Internal to src/report.
#pragma once

#include "report/host_profile.hpp"
#include "report/json/json_value.hpp"

namespace roofline {

nlohmann::ordered_json host_to_json(const HostProfile& host);
/// What refers to an entry that isn't there is refused.
HostProfile read_host(const JsonValue& json);

}  // namespace roofline
