// The JSON documents of comparisons and fleets as values; render_comparison_json() and render_fleet_json() are their
// text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fleet/fleet.hpp"
#include "report/comparison/comparison.hpp"

namespace roofline {

nlohmann::ordered_json comparison_to_json(const Comparison& comparison);
nlohmann::ordered_json fleet_to_json(const Fleet& fleet);

}  // namespace roofline
