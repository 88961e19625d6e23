// A profiled program to and from JSON (docs/report-schema.md, "profile" and "profiled"). Internal to src/report.
#pragma once

#include "report/json/json_value.hpp"
#include "report/report.hpp"

namespace roofline {

/// The value of a report's `profile`.
nlohmann::ordered_json profile_to_json(const Report& report);
/// `rows` is the number of results in the report; indices beyond it are an error.
Profile read_profile(const JsonValue& json, std::size_t rows);

/// The value of a row's `profiled`.
nlohmann::ordered_json profiled_to_json(const Point& point);
ProfiledKind read_profiled(const JsonValue& json);

}  // namespace roofline
