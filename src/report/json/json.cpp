// The documents: report.json as a whole, the schema versions, and the entry points of reading and writing.
#include "report/json/json.hpp"

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/error.hpp"
#include "report/json/json_members.hpp"
#include "report/json/json_read.hpp"
#include "report/json/machine_members.hpp"
#include "report/json/profile_json.hpp"

namespace roofline {
using Json = nlohmann::ordered_json;

void members(auto& io, Invocation& invocation) {
  io("command", invocation.command);
  io("suite", invocation.run_name);
  io("suite_path", invocation.suite_path);
  io("suite_text", invocation.suite_text);
  io("tool_version", invocation.tool_version);
  io("started_at", invocation.started_at);
  io("duration_s", invocation.duration_s);
  io.number_or("counting_s", invocation.counting_s, 0);
}

namespace {

/// End of a document whose last member is the list of rows.
constexpr const char* kRowsEnd = "\n  ]\n}\n";

/// A machine file, or the machine that a report was measured on.
Machine read_machine_or_report(const JsonValue& json) {
  const auto schema = json.find("schema");
  const bool is_report = schema && schema->text() == kReportSchema;
  return read_machine(is_report ? json["machine"] : json);
}

/// Everything but the rows, whose place is the last.
Json without_rows(const Report& report) {
  Json json = {{"schema", kReportSchema}, {"complete", report.complete}};
  if (!report.complete) json["rows_planned"] = report.rows_planned;
  json["cancelled"] = report.cancelled;
  json["invocation"] = to_json_value(report.invocation);
  json["notes"] = report.notes;
  json["machine"] = machine_to_json(report.machine);
  for (const Machine& machine : report.other_machines) json["other_machines"].push_back(machine_to_json(machine));
  if (report.profile) json["profile"] = profile_to_json(report);
  json["results"] = Json::array();
  return json;
}

}  // namespace

Json report_to_json(const Report& report) {
  Json json = without_rows(report);
  for (const Point& point : report.points) json["results"].push_back(point_to_json(point, machine_of(report, point)));
  return json;
}

ReportFrame report_frame(const Report& report) {
  std::string text = to_json_text(without_rows(report));
  text.erase(text.rfind(']'));
  return {.opening = std::move(text), .closing = kRowsEnd};
}

std::string row_text(const Point& point, const Machine& machine) {
  static const std::string before = "{\n  \"results\": [";
  const Json json = {{"results", Json::array({point_to_json(point, machine)})}};
  const std::string text = to_json_text(json);
  return text.substr(before.size(), text.size() - before.size() - std::string_view(kRowsEnd).size());
}

std::string render_json(const Report& report) {
  if (report.points.empty()) return to_json_text(without_rows(report));
  // Row by row, for the tree of ten thousand takes longer to build and to take down than their text.
  constexpr std::size_t kPart = 512;
  const std::size_t count = report.points.size();
  std::vector<std::future<std::string>> parts;
  for (std::size_t begin = 0; begin < count; begin += kPart) {
    parts.push_back(std::async(count > kPart ? std::launch::async : std::launch::deferred, [&report, begin, count] {
      std::string rows;
      for (std::size_t i = begin; i < std::min(begin + kPart, count); ++i) {
        if (i > 0) rows += ',';
        rows += row_text(report.points[i], machine_of(report, report.points[i]));
      }
      return rows;
    }));
  }
  auto [text, closing] = report_frame(report);
  for (auto& part : parts) text += part.get();
  return text + closing;
}

Json device_to_json(const DeviceInfo& device) { return to_json_value(device); }
Json ceiling_to_json(const Ceiling& ceiling) { return to_json_value(ceiling); }
Json sweep_to_json(const Sweep& sweep) { return to_json_value(sweep); }
Json machine_to_json(const Machine& machine) { return to_json_value(machine); }

DeviceInfo read_device(const JsonValue& json) { return read_value<DeviceInfo>(json); }
Ceiling read_ceiling(const JsonValue& json) { return read_value<Ceiling>(json); }
Sweep read_sweep(const JsonValue& json) { return read_value<Sweep>(json); }
Machine read_machine(const JsonValue& json) { return read_value<Machine>(json); }

Ceiling ceiling_from_json(const Json& json) { return read_ceiling(JsonValue(json)); }
Sweep sweep_from_json(const Json& json) { return read_sweep(JsonValue(json)); }
DeviceInfo device_from_json(const Json& json) { return read_device(JsonValue(json)); }

void expect_schema(const JsonValue& json, const std::string& expected) {
  const JsonValue schema = json["schema"];
  const std::string found = schema.text();
  if (found == expected) return;
  const std::string family = expected.substr(0, expected.find('/') + 1);
  if (found.starts_with(family)) {
    schema.fail("this roofline reads '" + expected + "', not '" + found + "'",
                "use the roofline that wrote the file, or run again with this one");
  }
  schema.fail("expected '" + expected + "', found '" + found + "'");
}

Report read_report(const JsonValue& json) {
  expect_schema(json, kReportSchema);
  Report report;
  report.cancelled = json["cancelled"].boolean();
  if (const auto complete = json.find("complete")) report.complete = complete->boolean();  // absent in older files
  if (!report.complete) report.rows_planned = static_cast<std::int64_t>(json["rows_planned"].natural());
  report.invocation = read_value<Invocation>(json["invocation"]);
  report.notes = read_value<std::vector<std::string>>(json["notes"]);
  report.machine = read_machine(json["machine"]);
  if (const auto others = json.find("other_machines")) {
    for (const JsonValue& machine : others->elements()) report.other_machines.push_back(read_machine(machine));
  }
  for (const JsonValue& result : json["results"].elements()) report.points.push_back(read_point(result));
  if (const auto profile = json.find("profile")) report.profile = read_profile(*profile, report.points.size());
  return report;
}

Machine parse_machine(const std::string& text, const std::string& source) {
  return read_document(text, source, read_machine_or_report);
}

Report parse_report(const std::string& text, const std::string& source) {
  return read_document(text, source, read_report);
}

}  // namespace roofline
