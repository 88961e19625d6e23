// What disturbed a measurement, to and from JSON: the value of `disturbed` in rows and ceilings.
// Internal to src/report.
#pragma once

#include "model/disturbance.hpp"
#include "report/json/json_value.hpp"

namespace roofline {

nlohmann::ordered_json disturbance_to_json(const Disturbance& seen);
Disturbance read_disturbance(const JsonValue& json);

}  // namespace roofline
