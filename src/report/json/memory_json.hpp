// Memory of a program, to and from JSON. Internal to src/report.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/memory_profile.hpp"

namespace roofline {

/// The value of a profile's `memory`.
nlohmann::ordered_json memory_to_json(const MemoryProfile& memory);
MemoryProfile read_memory(const JsonValue& json);

}  // namespace roofline
