// Outcome of a workload, to and from JSON: within a row of report.json, and as a message between two processes.
// Internal to src/report; other code calls outcome_to_json and outcome_from_json (json.hpp).
#pragma once

#include "report/json/json_value.hpp"
#include "report/report.hpp"

namespace roofline {

/// Writes `status`, and `reason` if there is one.
void put_status(nlohmann::ordered_json& json, const Outcome& outcome);
/// Writes `verification`, `buffer_sets`, `resident_bytes`, `disturbed`, `pace`, `attempts` and `samples_s`.
void put_run(nlohmann::ordered_json& json, const Outcome& outcome);
/// The value of `time_s`.
nlohmann::ordered_json summary_to_json(const Summary& time);

/// Reads the keys of all three.
Outcome read_outcome(const JsonValue& json);

}  // namespace roofline
