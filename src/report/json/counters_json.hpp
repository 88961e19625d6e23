// A point's counters to and from JSON (docs/report-schema.md, "counters").
#pragma once

#include "model/counters.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/json/json_value.hpp"

namespace roofline {

nlohmann::ordered_json counters_to_json(const Counters& counters);
/// Advice of the rules; recomputed on reading.
nlohmann::ordered_json advice_to_json(const std::vector<Advice>& advice);
Counters read_counters(const JsonValue& json);

}  // namespace roofline
