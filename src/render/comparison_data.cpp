// A comparison for programs: CSV and JSON (docs/report-schema.md), rows in the order of compare_runs.
#include <nlohmann/json.hpp>

#include "render/comparison_columns.hpp"
#include "render/documents.hpp"
#include "render/render.hpp"
#include "report/comparison/row_conditions.hpp"
#include "report/json/json_value.hpp"
#include "report/json/program_change_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

Json run_to_json(const Report& report, std::size_t runs) {
  Json json = {{"device", report.machine.device.name},
               {"identity", report.machine.device.identity},
               {"suite", report.invocation.run_name},
               {"started_at", report.invocation.started_at},
               {"tool_version", report.invocation.tool_version},
               {"complete", report.complete},
               {"runs", runs}};
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
    if (point->time->clock_hz) json["clock_hz"] = *point->time->clock_hz;
  }
  if (point->contention) json["share_lost"] = share_lost(*point->contention);
  if (point->profiled) {
    json["launches"] = point->profiled->launches;
    json["total_s"] = point->profiled->total_s;
    if (const auto& step = point->profiled->step) {
      json["step"] = {{"launches", step->launches}, {"seconds", step->seconds}};
    }
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
  json["interval_covers"] = to_string(change.basis);
  if (change.basis != RatioBasis::one_run) {
    json["repetitions"] = {{"before", change.repetitions_before}, {"now", change.repetitions_now}};
  }
  put_text(json, "conditions", conditions_text(conditions_of(comparison.before(change), comparison.after(change))));
  json["regression"] = comparison.is_regression(change);
  return json;
}

}  // namespace

std::string render_comparison_csv(const Comparison& comparison) {
  return csv_table(comparison_columns(), comparison, comparison_rows(comparison));
}

Json comparison_to_json(const Comparison& comparison) {
  Json json = {{"schema", kComparisonSchema}, {"max_slowdown", comparison.max_slowdown}};
  json["base"] = run_to_json(*comparison.base, comparison.base_runs);
  json["now"] = run_to_json(*comparison.now, comparison.now_runs);
  json["notes"] = comparison_notes(*comparison.base, *comparison.now);
  if (comparison.program) {
    json["program"] = program_change_to_json(*comparison.program);
    json["program"]["regression"] = comparison.program_regressed();
  }
  json["rows"] = Json::array();
  std::int64_t regressions = comparison.program_regressed() ? 1 : 0;
  for (const PointChange& change : comparison.changes) {
    json["rows"].push_back(row_to_json(comparison, change));
    if (comparison.is_regression(change)) ++regressions;
  }
  json["judged"] = comparison.is_judged();
  json["regressions"] = regressions;
  return json;
}

std::string render_comparison_json(const Comparison& comparison) {
  return to_json_text(comparison_to_json(comparison));
}

}  // namespace roofline
