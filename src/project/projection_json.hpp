// `roofline project --json`: docs/schema/project.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "project/projection.hpp"

namespace roofline {

/// `prices`: of an hour on each machine, in the order of the projections; 0: not given.
nlohmann::ordered_json projections_to_json(const Report& report, const std::vector<Projection>& projections,
                                           const std::vector<double>& prices);

}  // namespace roofline
