// Plans the rows, runs them in a child process, and assembles the report.
#include "analyze/analyze.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyze/choose_implementation.hpp"
#include "analyze/count_rows.hpp"
#include "analyze/count_workload.hpp"
#include "analyze/executed_work.hpp"
#include "analyze/experiments.hpp"
#include "analyze/invocation.hpp"
#include "analyze/own_kernels.hpp"
#include "analyze/workload_worker.hpp"
#include "host/host.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// A lost device (a GPU that fell off the bus) cannot be opened by the next process, nor by the one after it. The
/// remaining rows are then not tried one by one, each for its full limit.
class LostDevice {
 public:
  /// Before a process is started.
  bool is_lost() {
    in_vain_ = opened_ ? 0 : in_vain_ + 1;
    opened_ = false;
    return in_vain_ >= kProcesses;
  }
  void opened() { opened_ = true; }

 private:
  static constexpr int kProcesses = 2;
  bool opened_ = true;
  int in_vain_ = 0;
};

/// True if timing the row again may help: contention may have passed, or the median may become known, unless samples
/// were too few.
bool needs_remeasuring(const Point& point) {
  return is_under_contention(point) || (badly_measured(point) && point.time->samples >= kFewestForInterval);
}

/// Times every row once more that was measured under contention or background slowdown, or is badly measured. The
/// second time replaces the first if it is better in that respect; otherwise the first one stays, marked.
void measure_again(const Suite& suite, const Machine& machine, const AnalyzeOptions& options, Report& report) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (needs_remeasuring(report.points[i])) rows.push_back(i);
  }
  std::size_t done = 0;
  WorkloadWorker worker(suite, machine, options);
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(rows.size());
  jobs.run = [&](std::int64_t job, const Send& send) {
    return worker.run(static_cast<std::int64_t>(rows[static_cast<std::size_t>(job)]), send);
  };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    const Json json = Json::parse(text);
    if (!json.contains("outcome")) return;
    done = static_cast<std::size_t>(job) + 1;
    Point& point = report.points[rows[static_cast<std::size_t>(job)]];
    Point again = point;
    static_cast<Outcome&>(again) = outcome_from_json(json["outcome"]);
    again.bound = bound_of(again.work, machine, again.time ? again.time->clock_hz : std::nullopt);
    const bool better = !is_under_contention(again) && (is_under_contention(point) || !badly_measured(again));
    if (again.status == PointStatus::ok && better) point = std::move(again);
    point.attempts = 2;
  };
  jobs.on_lost = [](std::int64_t, const std::string&) {};  // the first time stays
  jobs.limit_s = [&](std::int64_t job) {
    return limit_of(suite.entries[rows[static_cast<std::size_t>(job)]], options);
  };
  jobs.on_tick = [&] {
    if (done >= rows.size()) return;
    options.progress({static_cast<std::int64_t>(done), jobs.count,
                      "re-timing (noisy): " + report.points[rows[done]].workload.label, std::nullopt});
  };
  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted || report.cancelled;
}

Report begin_report(const Suite& suite, const Machine& machine, const AnalyzeOptions& options) {
  Report report;
  report.invocation = invocation_of(suite, options.command);
  report.machine = machine;
  report.notes = options.notes;
  for (const std::string& kernel : suite.unused_kernels) {
    report.notes.push_back(fmt::format("Kernel '{}' of the suite was not run: no workload names it", kernel));
  }
  report.complete = false;
  report.rows_planned = static_cast<std::int64_t>(suite.entries.size());
  return report;
}

/// Rows whose time drifted. Findings that follow from the numbers (above a roof, under a suspect one) are made by
/// the renderers, which also find them in saved runs.
void note_drift(Report& report) {
  for (const Point& point : report.points) {
    if (point.time && point.time->drifting) {
      report.notes.push_back(fmt::format("{}: time drifted during sampling", point.workload.label));
    }
  }
}

/// One note for all rows under contention, and one for those where only the reference probes were slow.
void note_contention(Report& report) {
  std::vector<NamedContention> rows;
  std::vector<NamedReferenceRate> slow_rows;
  for (const Point& point : report.points) {
    if (point.contention) {
      rows.push_back({point.workload.label, *point.contention});
    } else if (is_slowed(point)) {
      slow_rows.push_back({point.workload.label, *reference_rate_of_roof(point)});
    }
  }
  if (!rows.empty()) report.notes.push_back(summarise(rows, "row"));
  if (!slow_rows.empty()) report.notes.push_back(summarise(slow_rows));
}

}  // namespace

Report analyze(const Suite& suite, const Machine& machine, const AnalyzeOptions& options) {
  const double begin = wall_seconds();
  Report report = begin_report(suite, machine, options);
  // Rows arrive in the suite's order: the current one is the first that the report lacks.
  const auto entry_at_work = [&]() -> const SuiteEntry& { return suite.entries[report.points.size()]; };
  const auto add = [&](const SuiteEntry& entry, Outcome outcome) {
    Point point = planned_point(entry, machine);
    static_cast<Outcome&>(point) = std::move(outcome);
    point.bound = bound_of(point.work, machine, point.time ? point.time->clock_hz : std::nullopt);
    report.points.push_back(std::move(point));
    report.invocation.duration_s = wall_seconds() - begin;
    options.on_row(report);
  };

  WorkloadWorker worker(suite, machine, options);
  LostDevice lost_device;
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(suite.entries.size());
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(job, send); };
  jobs.on_message = [&](std::int64_t, std::string_view text) {
    const Json json = Json::parse(text);
    if (json.contains("opened")) return lost_device.opened();
    add(with_implementation(entry_at_work(), json["implementation"].get<std::string>()),
        outcome_from_json(json["outcome"]));
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    // A child that died after sending its row has lost nothing else.
    if (static_cast<std::int64_t>(report.points.size()) == job)
      add(entry_at_work(), without_run(PointStatus::failed, reason));
  };
  jobs.limit_s = [&](std::int64_t job) { return limit_of(suite.entries[static_cast<std::size_t>(job)], options); };
  bool lost = false;
  jobs.enough = [&] { return lost = lost_device.is_lost(); };
  jobs.on_tick = [&] {
    const auto done = static_cast<std::int64_t>(report.points.size());
    if (done < jobs.count) options.progress({done, jobs.count, entry_at_work().workload.label, std::nullopt});
  };

  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted;
  if (lost) {
    report.notes.push_back(fmt::format("The run ended at row {} of {}: device lost: {}", report.points.size(),
                                       suite.entries.size(), report.points.back().reason));
  }
  while (report.points.size() < suite.entries.size()) {
    const SuiteEntry& entry = entry_at_work();
    const char* why = lost ? "not run: device lost" : "cancelled";
    add(entry, without_run(PointStatus::skipped, entry.skip_reason.empty() ? why : entry.skip_reason));
  }
  if (!report.cancelled && !lost) measure_again(suite, machine, options, report);
  report.invocation.duration_s = wall_seconds() - begin;
  note_drift(report);
  note_contention(report);
  if (options.counters && !report.cancelled && !lost) {
    const double counting = wall_seconds();
    count_rows(suite, options, report);
    take_counted_work(suite, report);
    report.invocation.counting_s = wall_seconds() - counting;
    report.invocation.duration_s = wall_seconds() - begin;
  }
  if (!report.cancelled && !lost) check_executed_work(suite, options, report);
  if (!report.cancelled && !lost) run_experiments(suite, options, report);
  report.invocation.duration_s = wall_seconds() - begin;
  keep_fastest(suite, report);
  report.complete = true;
  return report;
}

std::vector<ProfiledRun> run_suite_once(const Suite& suite, const DeviceChoice& choice) {
  const std::unique_ptr<Device> device = open_device(choice.kind, choice.index, choice.options);
  std::vector<ProfiledRun> runs;
  for (const SuiteEntry& entry : suite.entries) {
    ProfiledRun run;
    run.label = entry.workload.label;
    run.implementation = entry.workload.implementation;
    run.skipped = !entry.skip_reason.empty();
    run.failure = entry.skip_reason;
    try {
      if (!run.skipped) {
        const SuiteEntry here = choose_implementation(entry, *device);
        run.implementation = here.workload.implementation;
        run.kernels = run_workload_profiled(here, *device);
      }
    } catch (const PoisonedDevice&) {
      throw;
    } catch (const std::exception& error) {
      run.failure = error.what();
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace roofline
