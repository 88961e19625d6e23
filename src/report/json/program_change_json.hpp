// What changed in the cost of a program, as JSON: the `program` of a comparison's document (docs/report-schema.md).
#pragma once

#include <nlohmann/json.hpp>

#include "report/comparison/program_change.hpp"

namespace roofline {

nlohmann::ordered_json program_change_to_json(const ProgramChange& change);

}  // namespace roofline
