// A comparison for programs: CSV and JSON (docs/report-schema.md), rows in the order of compare_runs.
#include <nlohmann/json.hpp>

#include <cmath>

#include "render/csv_fields.hpp"
#include "render/documents.hpp"
#include "render/render.hpp"
#include "report/json/json_value.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

std::string status_of(const Point* point) { return point == nullptr ? "" : std::string(to_string(point->status)); }

Json run_to_json(const Report& report) {
  Json json = {{"device", report.machine.device.name},
               {"identity", report.machine.device.identity},
               {"suite", report.invocation.run_name},
               {"started_at", report.invocation.started_at},
               {"tool_version", report.invocation.tool_version},
               {"complete", report.complete}};
  if (!report.complete) json["rows_planned"] = report.rows_planned;
  if (!report.profile) return json;
  json["program"] = report.profile->program;
  json["wall_s"] = report.profile->wall_s;
  json["kernel_s"] = report.profile->kernel_s;
  return json;
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
  if (point->profiled) {
    json["launches"] = point->profiled->launches;
    json["total_s"] = point->profiled->total_s;
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

/// Launches and seconds of all of them.
std::pair<std::string, std::string> totals_of(const Point* point) {
  if (point == nullptr || !point->profiled) return {};
  return {std::to_string(point->profiled->launches), csv_number(point->profiled->total_s)};
}

/// The rows of both runs; null where there is none.
CsvRow csv_row(const Workload& workload, const Point* before, const Point* now, const PointChange& change,
               bool regression, bool of_programs) {
  Summary none;
  none.median = std::nan("");
  const Summary& then = before && before->time ? *before->time : none;
  const Summary& today = now && now->time ? *now->time : none;
  CsvRow row = {{"workload", csv_text(workload.label)},
                {"op", csv_text(workload.op)},
                {"implementation", csv_text(workload.implementation)},
                {"dtype", std::string(to_string(workload.dtype))},
                {"shape", csv_shape(workload.shape)},
                {"cache", std::string(to_string(workload.cache))},
                {"status_before", status_of(before)},
                {"status_now", status_of(now)},
                {"before_s", csv_number(then.median)},
                {"before_low_s", csv_number(then.ci95.low)},
                {"before_high_s", csv_number(then.ci95.high)},
                {"now_s", csv_number(today.median)},
                {"now_low_s", csv_number(today.ci95.low)},
                {"now_high_s", csv_number(today.ci95.high)},
                {"time_ratio", csv_number(change.time_ratio)},
                {"ratio_low", csv_number(change.ratio_ci95.low)},
                {"ratio_high", csv_number(change.ratio_ci95.high)},
                {"change", std::string(to_string(change.change))},
                {"regression", regression ? "true" : "false"}};
  if (!of_programs) return row;
  const auto [launches_before, total_before] = totals_of(before);
  const auto [launches_now, total_now] = totals_of(now);
  row.insert(row.end(), {{"launches_before", launches_before},
                         {"total_before_s", total_before},
                         {"launches_now", launches_now},
                         {"total_now_s", total_now}});
  return row;
}

}  // namespace

std::string render_comparison_csv(const Comparison& comparison) {
  const bool programs = comparison.of_programs();
  std::string text = csv_names(csv_row({}, nullptr, nullptr, {}, false, programs));
  for (const PointChange& change : comparison.changes) {
    text += csv_line(csv_row(comparison.row(change).workload, comparison.before(change), comparison.after(change),
                             change, comparison.is_regression(change), programs));
  }
  return text;
}

Json comparison_to_json(const Comparison& comparison) {
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
  return json;
}

std::string render_comparison_json(const Comparison& comparison) {
  return to_json_text(comparison_to_json(comparison));
}

}  // namespace roofline
