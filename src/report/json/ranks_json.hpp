// The ranks of a profile in report.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/ranks.hpp"

namespace roofline {

nlohmann::ordered_json json_of(const Ranks& ranks);
void read_json(const JsonValue& json, Ranks& ranks);

}  // namespace roofline
