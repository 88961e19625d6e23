// `roofline bound --json`: docs/schema/bound.schema.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "problem/problem_bound.hpp"

namespace roofline {

inline constexpr const char* kBoundSchema = "roofline.bound/1";

nlohmann::ordered_json problem_to_json(const ProblemBound& problem, const Machine& machine);

}  // namespace roofline
