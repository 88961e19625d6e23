// The JSON Schema of suites, for editors to complete from: docs/schema/suite.schema.json is made by it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "op/op.hpp"

namespace roofline {

/// The schema, with the extents of `ops`; others are allowed.
nlohmann::ordered_json suite_schema(std::span<const Op* const> ops);
/// The same as text; values that fit are written on one line.
std::string suite_schema_text(std::span<const Op* const> ops);

}  // namespace roofline
