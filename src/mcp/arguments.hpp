// The arguments of a call, checked against the table of tools, as a command line and as a view of its answer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mcp/allowed_paths.hpp"
#include "mcp/tools.hpp"

namespace roofline {

/// What of a report the caller wants to see.
struct ReportView {
  std::string report = {};   ///< the path to ask again with; empty: the answer has none
  std::string section = {};  ///< empty: the summary
  std::string row = {};      ///< "#3", an id or a part of a label
  std::size_t offset = 0;
};

struct ToolCommand {
  std::vector<std::string> arguments;  ///< of roofline, the command first
  ReportView view;
  std::filesystem::path new_folder = {};  ///< the report's own, which is removed if it stays empty; empty: none
};

/// Throws UsageError, which names the argument: of another type, out of range, unknown, missing, or a path that leads
/// out.
ToolCommand command_of(const Tool& tool, const nlohmann::ordered_json& arguments, const AllowedPaths& paths);

}  // namespace roofline
