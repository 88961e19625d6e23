// A comparison for programs: CSV and JSON (docs/report-schema.md), rows in the order of compare_runs.
#include <nlohmann/json.hpp>

#include "render/csv_fields.hpp"
#include "render/render.hpp"
#include "report/json/json_value.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> time_fields(const Point* point) {
  if (point == nullptr || !point->time) return std::vector<std::string>(3);
  return {csv_number(point->time->median), csv_number(point->time->ci95.low), csv_number(point->time->ci95.high)};
}

std::string status_of(const Point* point) { return point == nullptr ? "" : std::string(to_string(point->status)); }

Json run_to_json(const Report& report) {
  return {{"device", report.machine.device.name},
          {"identity", report.machine.device.identity},
          {"suite", report.invocation.suite},
          {"started_at", report.invocation.started_at},
          {"tool_version", report.invocation.tool_version}};
}

/// The row of one run: its status, and its time where it has one.
Json side_to_json(const Point* point) {
  Json json = {{"status", to_string(point->status)}};
  if (!point->reason.empty()) json["reason"] = point->reason;
  if (point->time) {
    json["time_s"] = Json::object();
    put_number(json["time_s"], "median", point->time->median);
    put_interval(json["time_s"], "ci95", point->time->ci95);
  }
  return json;
}

Json row_to_json(const Comparison& comparison, const PointChange& change) {
  const Workload& workload = comparison.row(change).workload;
  Json json = {{"workload", workload.op}, {"label", workload.label}};
  put_text(json, "impl", workload.implementation);
  json["dtype"] = to_string(workload.dtype);
  json["shape"] = Json::object();
  for (const auto& [name, extent] : workload.shape.extents()) json["shape"][name] = extent;
  json["cache"] = to_string(workload.cache);
  if (const Point* before = comparison.before(change)) json["before"] = side_to_json(before);
  if (const Point* after = comparison.after(change)) json["now"] = side_to_json(after);
  put_number(json, "time_ratio", change.time_ratio);
  put_interval(json, "time_ratio_ci95", change.ratio_ci95);
  json["change"] = to_string(change.change);
  json["regression"] = comparison.is_regression(change);
  return json;
}

}  // namespace

std::string render_comparison_csv(const Comparison& comparison) {
  std::string text;
  append_csv_line(text, {"workload", "op", "implementation", "dtype", "shape", "cache", "status_before", "status_now",
                         "before_s", "before_low_s", "before_high_s", "now_s", "now_low_s", "now_high_s", "time_ratio",
                         "ratio_low", "ratio_high", "change", "regression"});
  for (const PointChange& change : comparison.changes) {
    const Workload& workload = comparison.row(change).workload;
    std::vector<std::string> fields = {csv_text(workload.label),
                                       csv_text(workload.op),
                                       csv_text(workload.implementation),
                                       std::string(to_string(workload.dtype)),
                                       csv_shape(workload.shape),
                                       std::string(to_string(workload.cache)),
                                       status_of(comparison.before(change)),
                                       status_of(comparison.after(change))};
    for (const Point* point : {comparison.before(change), comparison.after(change)}) {
      for (std::string& field : time_fields(point)) fields.push_back(std::move(field));
    }
    for (const double value : {change.time_ratio, change.ratio_ci95.low, change.ratio_ci95.high}) {
      fields.push_back(csv_number(value));
    }
    fields.emplace_back(to_string(change.change));
    fields.emplace_back(comparison.is_regression(change) ? "true" : "false");
    append_csv_line(text, fields);
  }
  return text;
}

std::string render_comparison_json(const Comparison& comparison) {
  Json json = {{"schema", kComparisonSchema}, {"max_slowdown", comparison.max_slowdown}};
  json["base"] = run_to_json(*comparison.base);
  json["now"] = run_to_json(*comparison.now);
  json["notes"] = comparison_notes(*comparison.base, *comparison.now);
  json["rows"] = Json::array();
  std::int64_t regressions = 0;
  for (const PointChange& change : comparison.changes) {
    json["rows"].push_back(row_to_json(comparison, change));
    if (comparison.is_regression(change)) ++regressions;
  }
  json["regressions"] = regressions;
  return to_json_text(json);
}

}  // namespace roofline
