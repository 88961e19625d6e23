// The JSON Schema of suites, for editors to complete from: docs/schema/suite.schema.json is made by it.
#pragma once

#include <span>
#include <string>

#include "op/op.hpp"

namespace roofline {

/// The schema as a JSON document with a newline at its end. It knows the extents of `ops`, and allows others.
std::string suite_schema(std::span<const Op* const> ops);

}  // namespace roofline
