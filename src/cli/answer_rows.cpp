// Which arrays of a document are rows, and what each of them is called.
#include "cli/answer_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "model/find.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

/// "a/b", without what is empty.
std::string joined(const std::vector<std::string>& parts) {
  std::string id;
  for (const std::string& part : parts) {
    if (!part.empty()) id += (id.empty() ? "" : "/") + part;
  }
  return id;
}

/// The same in every run; kernels of a profiled program are identified by their labels.
std::string result_id(const Json& row) {
  if (row.contains("profiled")) return text_at(row, "label");
  std::string shape;
  if (const auto extents = row.find("shape"); extents != row.end()) {
    for (const auto& [name, extent] : extents->items()) {
      shape += fmt::format("{}{}={}", shape.empty() ? "" : ",", name, extent.dump());
    }
  }
  return joined({text_at(row, "workload"), text_at(row, "impl"), text_at(row, "dtype"), shape, text_at(row, "cache")});
}

std::string ceiling_id(const Json& row) {
  const std::string regime = text_at(row, "regime");
  return text_at(row, "name") + (regime.empty() ? "" : "@" + regime);
}

std::string comparison_id(const Json& row) {
  return text_at(row, "impl").empty() && row.value("shape", Json::object()).empty() ? text_at(row, "label")
                                                                                    : result_id(row);
}

/// A machine or a change of it; the file name if nothing else is known.
std::string outlier_id(const Json& row) {
  if (!row.contains("host")) return text_at(row, "file");
  return joined({text_at(row, "host"), text_at(row, "device"), text_at(row, "ceiling"), text_at(row, "change"),
                 text_at(row, "from")});
}

/// A pair of devices, or a ceiling of one.
std::string node_id(const Json& row) {
  const auto index = [&](const char* key) { return fmt::format("cuda:{}", row.value(key, 0)); };
  if (row.contains("from")) return index("from") + ">" + index("to");
  return index("device") + "/" + ceiling_id(row);
}

std::string named_id(const Json& row) { return text_at(row, "name"); }
std::string mix_id(const Json& row) { return text_at(row, "mix"); }
std::string label_id(const Json& row) { return text_at(row, "label"); }
std::string device_id(const Json& row) {
  const Json& device = row.at("device");
  const std::string kind = text_at(device, "kind");
  return kind == "cpu" ? kind : fmt::format("{}:{}", kind, device.value("index", 0));
}

/// Seconds above the roof, summed over all launches.
double saving_of_row(const Json& row) {
  const auto time = row.find("time_s");
  if (time == row.end()) return std::nan("");
  if (row.contains("paired")) return number_at(*time, "median") * (1 - number_at(row, "fraction_of_roof"));
  const auto profiled = row.find("profiled");
  const double launches = profiled != row.end() ? number_at(*profiled, "launches") : 1;
  return (number_at(*time, "median") - number_at(row, "attainable_time_s")) * (std::isnan(launches) ? 1 : launches);
}

double slowdown(const Json& row) { return number_at(row, "time_ratio"); }

/// Where the documents of a schema have rows, how rows are identified, and which ones --top keeps.
struct RowKind {
  const char* schema;
  std::vector<std::string> lists;  ///< "groups/outliers": of each group
  std::string (*id)(const Json& row);
  double (*weight)(const Json& row) = nullptr;  ///< the largest first; null: in the order of the document
};

const std::vector<RowKind>& row_kinds() {
  static const std::vector<RowKind> kinds = {
      {"roofline.report/1", {"results"}, result_id, saving_of_row},
      {"roofline.machine/1", {"ceilings"}, ceiling_id},
      {"roofline.node/1", {"together", "links"}, node_id},
      {"roofline.comparison/1", {"rows"}, comparison_id, slowdown},
      {"roofline.fleet/1", {"groups/outliers", "changes", "left_out"}, outlier_id},
      {"roofline.devices/1", {"devices"}, device_id},
      {"roofline.ops/1", {"ops"}, named_id},
      {"roofline.changes/1", {"changes"}, ceiling_id},
      {"roofline.mixes/1", {"mixes"}, mix_id},
      {"roofline.runs/1", {"runs"}, label_id},
      {"roofline.probes/1", {"probes"}, named_id},
      {"roofline.doctor/1", {"checks"}, named_id},
      {"roofline.help/1", {"commands"}, named_id},
  };
  return kinds;
}

const RowKind* kind_of(const Json& data) {
  const std::string schema = text_at(data, "schema");
  return find_by(row_kinds(), &RowKind::schema, schema);
}

/// The arrays of that path in `data`; "a/b" is b of each element of a.
std::vector<Json*> lists_at(Json& data, const std::string& path) {
  const std::size_t slash = path.find('/');
  const auto found = data.find(path.substr(0, slash));
  if (found == data.end() || !found->is_array()) return {};
  if (slash == std::string::npos) return {&*found};
  std::vector<Json*> lists;
  for (Json& element : *found) {
    for (Json* list : lists_at(element, path.substr(slash + 1))) lists.push_back(list);
  }
  return lists;
}

void add_ids(Json& rows, const RowKind& kind) {
  std::map<std::string, int> seen;
  for (Json& row : rows) {
    std::string id = kind.id(row);
    if (const int number = ++seen[id]; number > 1) id += fmt::format("#{}", number);
    Json with_id = {{"id", id}};
    with_id.update(row);
    row = std::move(with_id);
  }
}

void keep_top(Json& rows, const RowKind& kind, std::size_t top) {
  if (kind.weight != nullptr) {
    const auto weight = [&](const Json& row) {
      const double value = kind.weight(row);
      return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) { return weight(a) > weight(b); });
  }
  if (rows.size() > top) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(top), rows.end());
}

/// The value of "time_s.median", or null.
const Json* value_at(const Json& row, const std::string& field) {
  if (!row.is_object()) return nullptr;
  if (const auto whole = row.find(field); whole != row.end()) return &*whole;
  for (std::size_t dot = field.find('.'); dot != std::string::npos; dot = field.find('.', dot + 1)) {
    const auto part = row.find(field.substr(0, dot));
    if (part == row.end()) continue;
    if (const Json* value = value_at(*part, field.substr(dot + 1))) return value;
  }
  return nullptr;
}

/// Why a row lacks a field: from `absent` next to where the value would be, else from the row's `reason`.
std::string reason_for(const Json& row, const std::string& field) {
  const std::size_t dot = field.rfind('.');
  const Json* parent = dot == std::string::npos ? &row : value_at(row, field.substr(0, dot));
  if (parent != nullptr && parent->is_object() && parent->contains("absent")) {
    const std::string key = dot == std::string::npos ? field : field.substr(dot + 1);
    if (const std::string said = text_at(parent->at("absent"), key.c_str()); !said.empty()) return said;
  }
  if (const std::string reason = text_at(row, "reason"); !reason.empty()) return reason;
  return "this row lacks the field";
}

Json projected(const Json& row, const std::vector<std::string>& fields) {
  Json kept = {{"id", row.at("id")}};
  Json absent = Json::object();
  for (const std::string& field : fields) {
    if (field == "id") continue;
    if (const Json* value = value_at(row, field)) {
      kept[field] = *value;
    } else {
      absent[field] = reason_for(row, field);
    }
  }
  if (!absent.empty()) kept["absent"] = std::move(absent);
  return kept;
}

void collect_fields(const Json& object, const std::string& prefix, std::set<std::string>& fields) {
  for (const auto& [key, value] : object.items()) {
    fields.insert(prefix + key);
    if (value.is_object()) collect_fields(value, prefix + key + ".", fields);
  }
}

/// A field that no row has may be misspelled.
void warn_of_unknown(const std::vector<Json*>& lists, const std::vector<std::string>& fields,
                     std::vector<std::string>& warnings) {
  std::set<std::string> known;
  for (const Json* rows : lists) {
    for (const Json& row : *rows) collect_fields(row, "", known);
  }
  if (known.empty()) return;
  for (const std::string& field : fields) {
    if (known.count(field) > 0) continue;
    const std::string near = nearest_name(field, {known.begin(), known.end()});
    warnings.push_back(fmt::format("--fields: no row has '{}'{}", field,
                                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
}

/// The arrays of rows.
std::vector<Json*> row_lists(Json& data, const RowKind& kind) {
  std::vector<Json*> all;
  for (const std::string& path : kind.lists) {
    for (Json* rows : lists_at(data, path)) all.push_back(rows);
  }
  return all;
}

/// With --fields the document is its rows alone.
Json rows_alone(Json& data, const RowKind& kind) {
  Json only = {{"schema", data.at("schema")}};
  for (const std::string& path : kind.lists) {
    const std::size_t slash = path.find('/');
    const std::string list = path.substr(0, slash);
    if (!data.contains(list)) continue;
    if (slash == std::string::npos) {
      only[list] = std::move(data[list]);
      continue;
    }
    const std::string below = path.substr(slash + 1);
    only[list] = Json::array();
    for (Json& group : data[list]) only[list].push_back({{"name", group.at("name")}, {below, std::move(group[below])}});
  }
  return only;
}

}  // namespace

bool add_row_ids(Json& data) {
  const RowKind* const kind = kind_of(data);
  if (kind == nullptr) return false;
  for (Json* rows : row_lists(data, *kind)) add_ids(*rows, *kind);
  return true;
}

RowCounts select_rows(Json& data, const AnswerRequest& request, std::vector<std::string>& warnings) {
  const RowKind& kind = *kind_of(data);
  const std::vector<Json*> lists = row_lists(data, kind);
  if (!request.fields.empty()) warn_of_unknown(lists, request.fields, warnings);
  RowCounts counts;
  for (Json* rows : lists) {
    counts.total += rows->size();
    if (request.top) keep_top(*rows, kind, *request.top);
    counts.shown += rows->size();
    if (request.fields.empty()) continue;
    for (Json& row : *rows) row = projected(row, request.fields);
  }
  if (!request.fields.empty()) data = rows_alone(data, kind);
  return counts;
}

}  // namespace roofline
