// Plans the rows, has a child process run them, and puts the report together as they come in.
#include "analyze/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/measure_workload.hpp"
#include "device/host.hpp"
#include "device/interrupt.hpp"
#include "device/isolate.hpp"
#include "model/error.hpp"
#include "report/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// In the child: opens the device at the first workload that needs it and keeps it for those that follow.
class WorkloadWorker {
 public:
  WorkloadWorker(const Suite& suite, const AnalyzeOptions& options) : suite_(suite), options_(options) {}

  AfterJob run(std::int64_t job, const Send& send) {
    const SuiteEntry& entry = suite_.entries[static_cast<std::size_t>(job)];
    const DeviceKind kind = options_.device.kind;
    send("");  // tells the parent which workload is at work
    AfterJob after = AfterJob::next;
    Point point;
    try {
      if (!device_ && entry.skip_reason.empty()) {
        device_ = open_device(kind, options_.device.index, options_.device.options);
      }
      point = device_ ? measure_workload(entry, *device_, options_.sampler, options_.raw, interrupted)
                      : planned_point(entry, kind);
    } catch (const std::exception& error) {
      // Either the context is lost, or the device could not be opened again after that.
      point = planned_point(entry, kind);
      point.status = PointStatus::failed;
      point.reason = error.what();
      after = AfterJob::fresh_process;
    }
    send(point_to_json(point, kind).dump());
    return after;
  }

 private:
  const Suite& suite_;
  const AnalyzeOptions& options_;
  std::unique_ptr<Device> device_;
};

Report begin_report(const Suite& suite, const Machine& machine) {
  Report report;
  report.invocation.suite = suite.name;
  report.invocation.suite_path = suite.path;
  report.invocation.suite_text = suite.text;
  report.invocation.tool_version = ROOFLINE_VERSION;
  report.invocation.started_at = utc_now();
  report.machine = machine;
  return report;
}

/// Rows whose time did not hold still. What follows from the numbers (above a roof, under a suspect one) is
/// left to the renderers, which find it in saved runs too.
std::vector<std::string> notes_on(const std::vector<Point>& points) {
  std::vector<std::string> notes;
  for (const Point& point : points) {
    if (point.time && point.time->drifting) {
      notes.push_back(fmt::format("{}: the time was still drifting", point.workload.label));
    }
  }
  return notes;
}

}  // namespace

Report analyze(const Suite& suite, const Machine& machine, const AnalyzeOptions& options) {
  const double begin = wall_seconds();
  const DeviceKind kind = options.device.kind;
  const auto total = static_cast<std::int64_t>(suite.entries.size());
  const auto entry_of = [&](std::int64_t job) -> const SuiteEntry& {
    return suite.entries[static_cast<std::size_t>(job)];
  };
  Report report = begin_report(suite, machine);
  std::int64_t current = 0;
  const auto add = [&](Point point) {
    point.bound = bound_of(point.work, machine, point.time ? point.time->clock_hz : std::nullopt);
    report.points.push_back(std::move(point));
    report.invocation.duration_s = wall_seconds() - begin;
    options.on_row(report);
  };

  WorkloadWorker worker(suite, options);
  Jobs jobs;
  jobs.count = total;
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(job, send); };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    current = job;
    if (!text.empty()) add(point_from_json(Json::parse(text)));
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    // A child that died after it had sent its row has lost nothing but itself.
    if (static_cast<std::int64_t>(report.points.size()) > job) return;
    Point point = planned_point(entry_of(job), kind);
    point.status = PointStatus::failed;
    point.reason = reason;
    add(std::move(point));
  };
  jobs.on_tick = [&] { options.progress({current, total, entry_of(current).workload.label, std::nullopt}); };

  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted;
  for (auto job = static_cast<std::int64_t>(report.points.size()); job < total; ++job) {
    Point point = planned_point(entry_of(job), kind);
    if (point.status != PointStatus::skipped) point.reason = "cancelled";
    point.status = PointStatus::skipped;
    add(std::move(point));
  }
  report.notes = notes_on(report.points);
  return report;
}

}  // namespace roofline
