#include "render/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "render/prometheus_text.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"

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

/// What is worth knowing of a row beside its bar.
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
  put("sources", point.profiled->sources);
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
    const int process = lane.host ? kHost : kGpu;
    events.push_back(thread_name(process, ++thread, lane.name));
    for (const Slice& slice : lane.slices) {
      const Point* point = slice.point >= 0 ? &report.points[static_cast<std::size_t>(slice.point)] : nullptr;
      Json event = {{"ph", "X"},
                    {"cat", lane.host          ? "call"
                            : point != nullptr ? "kernel"
                                               : "copy"},
                    {"name", point != nullptr ? point->workload.label : slice.text},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", (timeline.start_s + slice.start_s) * kMicro},
                    {"dur", (slice.end_s - slice.start_s) * kMicro}};
      if (point != nullptr && point->profiled) event["args"] = arguments_of(*point);
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
  const auto for_rows = [&](const char* name, const char* help, auto&& value) {
    Gauge gauge(text, std::string("roofline_") + name, help);
    for (const Point& point : report.points) {
      gauge.add(fmt::format("{},kernel=\"{}\"", run, prometheus_label(point.workload.label)), value(point));
    }
  };
  const double none = std::nan("");
  for_rows("kernel_time_seconds", "Median time of a launch.",
           [&](const Point& point) { return point.time ? point.time->median : none; });
  for_rows("kernel_fraction_of_roof", "Attainable over measured time.",
           [](const Point& point) { return point.fraction_of_roof(); });
  for_rows("kernel_flops_per_second", "FLOPs over the median time.",
           [&](const Point& point) { return point.performance() > 0 ? point.performance() : none; });
  for_rows("kernel_bytes_per_second", "Bytes of main memory over the median time.", [&](const Point& point) {
    const double rate = point.bandwidth(main_memory(report.machine.device.kind));
    return rate > 0 ? rate : none;
  });
  for_rows("kernel_launches", "Launches of the kind.",
           [&](const Point& point) { return point.profiled ? static_cast<double>(point.profiled->launches) : none; });
  for_rows("kernel_total_seconds", "Time of all launches of the kind.",
           [&](const Point& point) { return point.profiled ? point.profiled->total_s : none; });
  Gauge parts(text, "roofline_wall_seconds", "What a GPU's wall time went to.");
  for (const Budget& budget : budgets(report)) {
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
    Gauge(text, "roofline_run_complete", "1; 0 of a run that did not come to its end.")
        .add(run, report.complete ? 1 : 0);
    const auto rows = static_cast<std::int64_t>(report.points.size());
    Gauge(text, "roofline_run_rows_missing", "Rows that the run was to have, and has not.")
        .add(run, static_cast<double>(report.complete ? 0 : std::max<std::int64_t>(0, report.rows_planned - rows)));
  }
  return text;
}

std::string render_json_lines(const Runs& runs) {
  const Report& report = runs.last();
  std::string text;
  for (const Point& point : report.points) {
    Json row = {{"suite", report.invocation.run_name},
                {"started_at", report.invocation.started_at},
                {"device", report.machine.device.name},
                {"complete", report.complete}};
    row.update(point_to_json(point, report.machine));
    text += row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace roofline
