// Plans the rows, runs them in a child process, and assembles the report.
#include "analyze/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "analyze/choose_implementation.hpp"
#include "analyze/count_workload.hpp"
#include "analyze/experiments.hpp"
#include "analyze/follow.hpp"
#include "analyze/invocation.hpp"
#include "analyze/measure_workload.hpp"
#include "analyze/own_kernels.hpp"
#include "analyze/pair_row.hpp"
#include "analyze/reference_probe.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "report/json/counters_json.hpp"
#include "report/json/json.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
constexpr auto kReplaceBadText = Json::error_handler_t::replace;

Outcome without_run(PointStatus status, std::string reason) {
  Outcome outcome;
  outcome.status = status;
  outcome.reason = std::move(reason);
  return outcome;
}

/// Where a row's work is done: the cache that its data stay in if it is hot; on a CPU also the threads and parallel
/// regions of its implementation, and what it only writes.
void place(Work& work, const SuiteEntry& entry, const Machine& machine) {
  const bool on_cpu = machine.device.kind == DeviceKind::cpu;
  const std::int64_t all = machine.device.units;
  if (on_cpu && entry.implementation) {
    const Implementation& implementation = *entry.implementation;
    if (implementation.threads < all) work.threads = implementation.threads;
    if (implementation.regions) work.launches = all > 1 ? *implementation.regions : 0;
  }
  double bytes = 0, write_only = 0;
  for (const TensorSpec& tensor : entry.op->tensors(entry.workload)) {
    bytes += static_cast<double>(tensor.bytes());
    if (!is_read(tensor.role)) write_only += static_cast<double>(tensor.bytes());
  }
  if (on_cpu) work.write_only = write_only;
  // Each rank of a collective has caches of its own, and links limit it.
  if (entry.workload.cache == CacheMode::hot && !work.collective) work.cache = machine.cache_for(bytes, work.threads);
}

/// A row with everything except its outcome and what follows from it.
Point planned_point(const SuiteEntry& entry, const Machine& machine) {
  Point point;
  point.workload = entry.workload;
  point.family = entry.op->family();
  point.work = on_units_of(machine, entry.op->work(entry.workload, machine.device.kind));
  if (entry.implementation) {
    point.implementation_summary = entry.implementation->summary;
    point.non_temporal_stores = entry.implementation->non_temporal_stores;
    if (entry.implementation->extra_traffic) point.work.extra = entry.implementation->extra_traffic(entry.workload);
  }
  place(point.work, entry, machine);
  return point;
}

/// In the child: opens the device at the first workload that needs it and keeps it for the following ones.
class WorkloadWorker {
 public:
  WorkloadWorker(const Suite& suite, const Machine& machine, const AnalyzeOptions& options)
      : suite_(suite), machine_(machine), options_(options) {}

  AfterJob run(std::int64_t job, const Send& send) {
    const SuiteEntry& entry = suite_.entries[static_cast<std::size_t>(job)];
    AfterJob after = AfterJob::next;
    Outcome outcome;
    std::string implementation = entry.workload.implementation;
    try {
      outcome = entry.skip_reason.empty() ? measure(entry, implementation, send)
                                          : without_run(PointStatus::skipped, entry.skip_reason);
    } catch (const std::exception& error) {
      // Either the context is lost, or the device could not be reopened after that.
      outcome = without_run(PointStatus::failed, error.what());
      after = AfterJob::fresh_process;
    }
    send(Json({{"implementation", implementation}, {"outcome", outcome_to_json(outcome)}})
             .dump(-1, ' ', false, kReplaceBadText));
    return after;
  }

 private:
  Outcome measure(const SuiteEntry& entry, std::string& implementation, const Send& send) {
    const DeviceChoice& choice = options_.device;
    if (!device_) {
      device_ = open_ranks(choice, options_.together);
      reference_.emplace(machine_, *device_);
      pairs_.emplace(machine_, *device_, *reference_);
      send(Json({{"opened", true}}).dump());
    }
    const SuiteEntry here = choose_implementation(entry, *device_);
    implementation = here.workload.implementation;
    if (options_.together) announce_row(here, &entry - suite_.entries.data(), *device_, *options_.together);
    const std::optional<ReferenceRates> before = reference_->latest();
    pairs_->make_room();
    Outcome outcome = measure_workload(here, *device_, options_.sampler, options_.raw, interrupted,
                                       [&](Outcome& timed, const Bench& bench) { pair(here, timed, bench); });
    if (before && outcome.time) outcome.reference_rates = between(*before, *reference_->latest());
    return outcome;
  }

  /// Not between processes: each would have to run the same probe at the same time. Other programs on its CPUs do not
  /// cancel out: a probe's launch of a millisecond waits for each preempted thread, a row's longer launch lets the
  /// other threads take its work. Such pairs are dropped, and the row is one under contention.
  void pair(const SuiteEntry& entry, Outcome& outcome, const Bench& bench) {
    if (options_.together) return;
    Point row = planned_point(entry, machine_);
    static_cast<Outcome&>(row) = outcome;
    row.bound = bound_of(row.work, machine_, row.time->clock_hz);
    const auto contention = device_->watch_contention(entry.implementation->threads);
    outcome.paired = pairs_->measure(row, bench, pair_options(options_.sampler));
    const Contention seen = contention();
    if (!outcome.paired || !is_significant(seen)) return;
    outcome.paired.reset();
    if (!outcome.contention) outcome.contention = seen;
  }

  const Suite& suite_;
  const Machine& machine_;
  const AnalyzeOptions& options_;
  std::unique_ptr<Device> device_;
  std::optional<ReferenceProbe> reference_;
  std::optional<RowPairs> pairs_;
};

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

/// The lower of the limit of all rows and the row's own from the suite.
std::optional<double> limit_of(const SuiteEntry& entry, const AnalyzeOptions& options) {
  const std::optional<double> own = entry.time_limit_s();
  if (!own || !options.row_limit_s) return own ? own : options.row_limit_s;
  return std::min(*own, *options.row_limit_s);
}

/// Whether timing the row again may help: contention may have passed, or the median may become known, unless
/// samples were too few.
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

/// In the child: the device and its counters, opened at the first workloads.
class CountingWorker {
 public:
  explicit CountingWorker(const AnalyzeOptions& options) : options_(options) {}

  /// Sends one message per workload: its counts, or the reason why there are none.
  AfterJob run(std::span<const SuiteEntry* const> entries, const Send& send) {
    try {
      if (!device_) device_ = open_device(options_.device.kind, options_.device.index, options_.device.options);
      if (!reader_) reader_ = make_counter_reader(*device_, *options_.counters);
    } catch (const Error& error) {
      const std::string hint = error.hint().empty() ? "" : fmt::format(" ({})", error.hint());
      for (std::size_t i = 0; i < entries.size(); ++i) send(Json({{"refused", error.what() + hint}}).dump());
      return AfterJob::next;
    }
    try {
      for (const Counters& counters : count_workloads(entries, *device_, *reader_))
        send(counters_to_json(counters).dump());
      return AfterJob::next;
    } catch (const PoisonedDevice& error) {
      for (std::size_t i = 0; i < entries.size(); ++i) send(Json({{"failed", error.what()}}).dump());
      return AfterJob::fresh_process;
    } catch (const std::exception&) {
      // Together they may need more memory than available.
      for (const SuiteEntry* entry : entries) send(one(*entry).dump());
      return AfterJob::next;
    }
  }

 private:
  Json one(const SuiteEntry& entry) {
    try {
      const SuiteEntry* const only = &entry;
      return counters_to_json(count_workloads({&only, 1}, *device_, *reader_).front());
    } catch (const std::exception& error) {
      return {{"failed", error.what()}};
    }
  }

  const AnalyzeOptions& options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<CounterReader> reader_;
};

/// Counts every timed row, a few at a time. What cannot be counted becomes a note; one note if nothing can.
void count(const Suite& suite, const AnalyzeOptions& options, Report& report) {
  constexpr std::size_t kTogether = 8;
  std::vector<std::size_t> rows, together;
  std::vector<const SuiteEntry*> entries;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (report.points[i].status != PointStatus::ok) continue;
    // A profiler serialises kernels, and those of a collective wait for each other.
    (report.points[i].work.collective ? together : rows).push_back(i);
  }
  for (const std::size_t row : rows) entries.push_back(&suite.entries[row]);
  if (!together.empty()) {
    report.notes.push_back(
        fmt::format("No hardware counters for {} with collectives: their kernels wait for each other, "
                    "but the profiler serialises kernels",
                    together.size() == 1 ? "the row" : fmt::format("the {} rows", together.size())));
  }
  const auto first_of = [](std::int64_t job) { return static_cast<std::size_t>(job) * kTogether; };
  const auto entries_of = [&](std::int64_t job) {
    const std::size_t first = first_of(job);
    return std::span<const SuiteEntry* const>(entries).subspan(first, std::min(kTogether, entries.size() - first));
  };
  CountingWorker worker(options);
  std::string refused;
  std::size_t done = 0;
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>((rows.size() + kTogether - 1) / kTogether);
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(entries_of(job), send); };
  jobs.on_message = [&](std::int64_t, std::string_view text) {
    Point& point = report.points[rows[done++]];
    const Json json = Json::parse(text);
    if (json.contains("refused")) {
      refused = json["refused"].get<std::string>();
    } else if (json.contains("failed")) {
      report.notes.push_back(
          fmt::format("{}: no counters: {}", point.workload.label, json["failed"].get<std::string>()));
    } else {
      point.counters = read_counters(JsonValue(json));
    }
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    const std::size_t end = std::min(first_of(job) + kTogether, rows.size());
    for (; done < end; ++done) {
      report.notes.push_back(fmt::format("{}: no counters: {}", report.points[rows[done]].workload.label, reason));
    }
  };
  jobs.limit_s = [&](std::int64_t job) {
    std::optional<double> limit;
    for (const SuiteEntry* entry : entries_of(job)) {
      if (const auto own = limit_of(*entry, options)) limit = limit.value_or(0) + *own;
    }
    return limit;
  };
  jobs.on_tick = [&] {
    if (done >= rows.size()) return;
    options.progress({static_cast<std::int64_t>(done), static_cast<std::int64_t>(rows.size()),
                      "counting " + report.points[rows[done]].workload.label, std::nullopt});
  };
  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted || report.cancelled;
  if (!refused.empty()) report.notes.push_back("No hardware counters: " + refused);
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
    count(suite, options, report);
    take_counted_work(suite, report);
    report.invocation.counting_s = wall_seconds() - counting;
    report.invocation.duration_s = wall_seconds() - begin;
  }
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
