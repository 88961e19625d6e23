// The rows of a document: their ids, and as many and as much of them as --top and --fields ask for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace roofline {

/// How many rows a document had, and how many are left.
struct RowCounts {
  std::size_t total = 0, shown = 0;
};

/// Gives every row of `data` its id. False: a document of that schema has no rows.
bool add_row_ids(nlohmann::ordered_json& data);

/// Keeps of the rows, which have ids, what was asked for. A field that no row has may be a slip and is warned of.
RowCounts select_rows(nlohmann::ordered_json& data, const AnswerRequest& request, std::vector<std::string>& warnings);

}  // namespace roofline
