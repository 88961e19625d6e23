#include "cli/row_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "text/nearest_name.hpp"
#include "text/parse.hpp"

// NOLINTBEGIN(readability-identifier-naming): the linker's names
extern "C" const char roofline_report_schema_begin[], roofline_report_schema_end[];
extern "C" const char roofline_machine_schema_begin[], roofline_machine_schema_end[];
extern "C" const char roofline_comparison_schema_begin[], roofline_comparison_schema_end[];
// NOLINTEND(readability-identifier-naming)

namespace roofline {
namespace {

using Json = nlohmann::json;

/// The schema of a document, and its definition of a row.
struct RowSchema {
  Json document;
  std::string definition;
};

RowSchema schema_of(const std::string& command) {
  for (const char* name : {"analyze", "profile", "import", "report"}) {
    if (command == name) return {Json::parse(roofline_report_schema_begin, roofline_report_schema_end), "result"};
  }
  for (const char* name : {"calibrate", "machine"}) {
    if (command == name) return {Json::parse(roofline_machine_schema_begin, roofline_machine_schema_end), "ceiling"};
  }
  for (const char* name : {"compare", "ab"}) {
    if (command == name) return {Json::parse(roofline_comparison_schema_begin, roofline_comparison_schema_end), "row"};
  }
  return {};
}

const Json& resolved(const Json& document, const Json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end()) return node;
  return document.at(Json::json_pointer(reference->get<std::string>().substr(1)));
}

/// Names that an object of that schema has; empty: any.
std::vector<std::string> names_of(const Json& node) {
  std::vector<std::string> names;
  const bool closed =
      node.value("additionalProperties", Json(true)) == Json(false) && !node.contains("patternProperties");
  if (!closed || !node.contains("properties")) return names;
  for (const auto& [name, ignored] : node.at("properties").items()) names.push_back(name);
  return names;
}

void require_field(const RowSchema& schema, const std::string& field) {
  const Json* node = &schema.document.at("$defs").at(schema.definition);
  std::string path;
  for (const std::string& part : split(field, '.')) {
    std::vector<std::string> names = names_of(*node);
    if (names.empty()) return;
    if (path.empty()) names.emplace_back("id");
    if (std::find(names.begin(), names.end(), part) == names.end()) {
      const std::string near = nearest_name(part, names);
      throw UsageError(fmt::format("--fields: no row has '{}'", field),
                       near.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean '{}{}'?", path, near));
    }
    if (!node->at("properties").contains(part)) return;
    node = &resolved(schema.document, node->at("properties").at(part));
    path += part + ".";
  }
}

}  // namespace

void require_fields(const std::string& command, const std::vector<std::string>& fields) {
  if (fields.empty()) return;
  const RowSchema schema = schema_of(command);
  if (schema.definition.empty()) return;
  for (const std::string& field : fields) require_field(schema, field);
}

}  // namespace roofline
