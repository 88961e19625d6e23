// Memory of a program, to and from JSON. Internal to src/report.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/memory_profile.hpp"

namespace roofline {

/// The value of a profile's `memory`.
nlohmann::ordered_json json_of(const MemoryProfile& memory);
void read_json(const JsonValue& json, MemoryProfile& memory);

}  // namespace roofline
