// What disturbed a measurement, to and from JSON: the values of `disturbed` in rows and ceilings, and of `pace` in
// rows. Internal to src/report.
#pragma once

#include "model/disturbance.hpp"
#include "report/json/json_value.hpp"

namespace roofline {

nlohmann::ordered_json disturbance_to_json(const Disturbance& seen);
Disturbance read_disturbance(const JsonValue& json);
nlohmann::ordered_json pace_to_json(const Pace& pace);
Pace read_pace(const JsonValue& json);

}  // namespace roofline
