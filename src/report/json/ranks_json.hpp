// The ranks of a profile in report.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json/json_value.hpp"
#include "report/ranks.hpp"

namespace roofline {

nlohmann::ordered_json ranks_to_json(const Ranks& ranks);
Ranks read_ranks(const JsonValue& json);

}  // namespace roofline
