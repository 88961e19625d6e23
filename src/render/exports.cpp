#include "render/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "render/kernel_columns.hpp"
#include "render/prometheus_text.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicro = 1e6;  // of a second

Json thread_name(int process, int thread, const std::string& name) {
  return {{"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", "thread_name"}, {"args", {{"name", name}}}};
}

Json process_name(int process, const std::string& name) {
  return {{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", name}}}};
}

/// Details of a row for its bar.
Json arguments_of(const Point& point) {
  const ProfiledKind& kind = *point.profiled;
  Json arguments = {{"kernel", kind.full_name}, {"grid", kind.grid}, {"block", kind.block}};
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) arguments[key] = text;
  };
  put("range", kind.range);
  put("module", kind.module);
  put("line", kind.line);
  put("operation", kind.operation);
  put("sources", kind.sources);
  if (const std::string_view source = work_source(point); !source.empty()) {
    arguments["work"] = source;
    arguments["FLOPs"] = point.work.total_flops();
    const auto bytes = point.work.bytes.find(Level::hbm);
    if (bytes != point.work.bytes.end()) arguments["bytes"] = bytes->second.total();
  }
  if (const double fraction = point.fraction_of_roof(); std::isfinite(fraction)) {
    arguments["fraction_of_roof"] = fraction;
    arguments["bound"] = to_string(point.bound.label);
    arguments["roof"] = point.bound.limiting_ceiling;
  }
  return arguments;
}

std::string_view category_of(LaneKind lane, const Slice& slice) {
  switch (lane) {
    case LaneKind::calls:
      return "call";
    case LaneKind::samples:
      return "sample";
    case LaneKind::idle:
      return "idle";
    case LaneKind::stream:
      break;
  }
  return slice.point >= 0 ? "kernel" : "copy";
}

std::string name_of(const Slice& slice, const Point* point) {
  if (!slice.text.empty()) return slice.text;
  if (point != nullptr) return point->workload.label;
  return slice.line.empty() && slice.state ? std::string(to_string(*slice.state)) : slice.line;
}

Json arguments_of(const Slice& slice, const Point* point) {
  Json arguments = point != nullptr && point->profiled ? arguments_of(*point) : Json::object();
  if (!slice.line.empty()) arguments["line"] = slice.line;
  if (slice.state) arguments["state"] = id_of(*slice.state);
  if (slice.cause) arguments["cause"] = to_string(*slice.cause);
  if (slice.merged > 0) {
    arguments["merged"] = slice.merged;
    arguments["busy_s"] = slice.busy_s;
  }
  return arguments;
}

Json json_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

}  // namespace

std::string render_trace(const Runs& runs) {
  const Report& report = runs.last();
  if (!report.profile || !report.profile->timeline) {
    throw UsageError("this report has no timeline to write as a trace",
                     "those of roofline profile have one, and of imports of nsys and torch.profiler");
  }
  constexpr int kGpu = 1, kHost = 2;
  const Timeline& timeline = *report.profile->timeline;
  Json events = Json::array({process_name(kGpu, "GPU"), process_name(kHost, "host")});
  int thread = 0;
  for (const Lane& lane : timeline.lanes) {
    const int process = lane.host() ? kHost : kGpu;
    events.push_back(thread_name(process, ++thread, lane.name));
    for (const Slice& slice : lane.slices) {
      const Point* point = slice.point >= 0 ? &report.points[static_cast<std::size_t>(slice.point)] : nullptr;
      Json event = {{"ph", "X"},
                    {"cat", category_of(lane.kind, slice)},
                    {"name", name_of(slice, point)},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", (timeline.start_s + slice.start_s) * kMicro},
                    {"dur", (slice.end_s - slice.start_s) * kMicro}};
      if (Json arguments = arguments_of(slice, point); !arguments.empty()) event["args"] = std::move(arguments);
      events.push_back(std::move(event));
    }
  }
  const Json trace = {{"displayTimeUnit", "ns"},
                      {"otherData", {{"tool", "roofline"}, {"device", report.machine.device.name}}},
                      {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_prometheus(const Runs& runs) {
  const Report& report = runs.last();
  std::string text;
  const std::string run = fmt::format("suite=\"{}\",device=\"{}\"", prometheus_label(report.invocation.run_name),
                                      prometheus_label(report.machine.device.name));
  for (const KernelColumn& column : kernel_columns()) {
    if (column.metric.empty()) continue;
    Gauge gauge(text, fmt::format("roofline_{}", column.metric), fmt::format("{}.", column.meaning));
    for (const KernelRow& row : kernel_rows(report)) {
      const double figure = number_of(column.value(row));
      if (figure > 0)
        gauge.add(fmt::format("{},kernel=\"{}\"", run, prometheus_label(row.point.workload.label)), figure);
    }
  }
  Gauge parts(text, "roofline_wall_seconds", "Wall time of a GPU by activity.");
  for (const Budget& budget : run_budgets(report)) {
    for (const WallShare& share : budget.shares) {
      parts.add(fmt::format("{},gpu=\"{}\",part=\"{}\"", run, prometheus_label(budget.device),
                            prometheus_label(name_of(share.part))),
                share.seconds);
    }
  }
  Gauge roofs(text, "roofline_roof", "Ceilings of the machine, per second.");
  for (const Ceiling& ceiling : report.machine.ceilings) {
    roofs.add(fmt::format("device=\"{}\",ceiling=\"{}\",regime=\"{}\",unit=\"{}\"",
                          prometheus_label(report.machine.device.name), prometheus_label(ceiling.name),
                          to_string(ceiling.regime), unit_of(ceiling.kind)),
              ceiling.value);
  }
  if (!report.profile) {
    Gauge(text, "roofline_run_complete", "1; 0 if the run did not finish.").add(run, report.complete ? 1 : 0);
    const auto rows = static_cast<std::int64_t>(report.points.size());
    Gauge(text, "roofline_run_rows_missing", "Planned rows that are missing.")
        .add(run, static_cast<double>(report.complete ? 0 : std::max<std::int64_t>(0, report.rows_planned - rows)));
  }
  return text;
}

std::string render_csv(const Report& report) { return csv_table(kernel_columns(), report, kernel_rows(report)); }

std::string render_json_lines(const Runs& runs) {
  const Report& report = runs.last();
  const auto columns = columns_in(kJsonLines, kernel_columns(), report);
  std::string text;
  for (const KernelRow& row : kernel_rows(report)) {
    Json line = Json::object();
    for (const KernelColumn* column : columns) line[column->key] = json_of(column->value(row));
    line.update(point_to_json(row.point, machine_of(report, row.point)));
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace roofline
