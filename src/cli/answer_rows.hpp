// The rows of a document: their ids, and as many and as much of them as --top and --fields ask for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace roofline {

/// Number of rows of a document, total and kept.
struct RowCounts {
  std::size_t total = 0, shown = 0;
};

/// Adds an id to every row of `data`. False if documents of that schema have no rows.
bool add_row_ids(nlohmann::ordered_json& data);

/// Keeps of the rows, which have ids, what was asked for. A field that no row has may be a slip and is warned of.
RowCounts select_rows(nlohmann::ordered_json& data, const AnswerRequest& request, std::vector<std::string>& warnings);

}  // namespace roofline
