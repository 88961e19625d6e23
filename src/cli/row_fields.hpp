// The possible fields of rows, from the schemas in docs/schema.
#pragma once

#include <string>
#include <vector>

namespace roofline {

/// Throws UsageError for a field of --fields that no row of that command's document can have. Commands whose rows are
/// not described are not checked.
void require_fields(const std::string& command, const std::vector<std::string>& fields);

}  // namespace roofline
