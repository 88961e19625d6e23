// The documents: report.json as a whole, the schema versions, and the entry points of reading and writing.
#include "report/json.hpp"
#include "report/counted.hpp"
#include "report/counters_json.hpp"

#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "report/json_read.hpp"
#include "report/render.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json invocation_to_json(const Invocation& invocation) {
  return {{"command", invocation.command},           {"suite", invocation.suite},
          {"suite_path", invocation.suite_path},     {"suite_text", invocation.suite_text},
          {"tool_version", invocation.tool_version}, {"started_at", invocation.started_at},
          {"duration_s", invocation.duration_s},     {"counting_s", invocation.counting_s}};
}

std::vector<std::string> read_texts(const JsonValue& json) {
  std::vector<std::string> texts;
  for (const JsonValue& element : json.elements()) texts.push_back(element.text());
  return texts;
}

Invocation read_invocation(const JsonValue& json) {
  return {.command = read_texts(json["command"]),
          .suite = json["suite"].text(),
          .suite_path = json["suite_path"].text(),
          .suite_text = json["suite_text"].text(),
          .tool_version = json["tool_version"].text(),
          .started_at = json["started_at"].text(),
          .duration_s = json["duration_s"].number(),
          .counting_s = json.number_or("counting_s", 0)};
}

/// Parses `text` and reads it; a complaint about a place in it gets the file's name in front.
template <class Value>
Value read_document(const std::string& text, const std::string& source, Value (*read)(const JsonValue&)) {
  const Json document = parse_json_text(text, source);
  try {
    return read(JsonValue(document));
  } catch (const UsageError& error) {
    throw UsageError(source + ": " + error.what(), error.hint());
  }
}

/// A machine file, or the machine that a report was measured on.
Machine read_machine_or_report(const JsonValue& json) {
  const auto schema = json.find("schema");
  const bool is_report = schema && schema->text() == kReportSchema;
  return read_machine(is_report ? json["machine"] : json);
}

}  // namespace

Json report_to_json(const Report& report) {
  Json json = {{"schema", kReportSchema}, {"cancelled", report.cancelled}};
  json["invocation"] = invocation_to_json(report.invocation);
  json["notes"] = report.notes;
  json["machine"] = machine_to_json(report.machine);
  json["results"] = Json::array();
  for (const Point& point : report.points) {
    json["results"].push_back(point_to_json(point, report.machine.device.kind));
    const Json advice = advice_to_json(advice_for(point, report.machine));
    if (!advice.empty()) json["results"].back()["diagnosis"] = advice;
  }
  return json;
}

std::string render_json(const Report& report) { return to_json_text(report_to_json(report)); }

Ceiling ceiling_from_json(const Json& json) { return read_ceiling(JsonValue(json)); }
Sweep sweep_from_json(const Json& json) { return read_sweep(JsonValue(json)); }
DeviceInfo device_from_json(const Json& json) { return read_device(JsonValue(json)); }
Point point_from_json(const Json& json) { return read_point(JsonValue(json)); }

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
  report.invocation = read_invocation(json["invocation"]);
  report.notes = read_texts(json["notes"]);
  report.machine = read_machine(json["machine"]);
  for (const JsonValue& result : json["results"].elements()) report.points.push_back(read_point(result));
  return report;
}

Machine parse_machine(const std::string& text, const std::string& source) {
  return read_document(text, source, read_machine_or_report);
}

Report parse_report(const std::string& text, const std::string& source) {
  return read_document(text, source, read_report);
}

}  // namespace roofline
