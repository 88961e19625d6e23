// The timeline of a profile, to and from JSON (docs/report-schema.md, "profile"). Internal to src/report.
#pragma once

#include "report/json/json_value.hpp"
#include "report/profile.hpp"

namespace roofline {

nlohmann::ordered_json timeline_to_json(const Timeline& timeline);
/// `rows` is how many results the report has: a bar of one that isn't there is refused.
Timeline read_timeline(const JsonValue& json, std::size_t rows);

}  // namespace roofline
