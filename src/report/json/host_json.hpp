// The host side of a profile to and from JSON (docs/report-schema.md, "host"). Internal to src/report.
#pragma once

#include <utility>

#include "report/host_profile.hpp"
#include "report/json/json_value.hpp"

namespace roofline {

inline auto vocabulary(ThreadState) { return std::pair(&parse_thread_state, "state of a thread"); }

nlohmann::ordered_json json_of(const HostProfile& host);
/// Throws UsageError for an index without an entry.
void read_json(const JsonValue& json, HostProfile& host);

}  // namespace roofline
