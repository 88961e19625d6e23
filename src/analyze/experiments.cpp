// In a child process, as every kernel of a user: a crash costs the experiments of its row.
#include "analyze/experiments.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyze/choose_implementation.hpp"
#include "analyze/own_kernels.hpp"
#include "analyze/row_experiments.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "report/diagnosis/rules.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/json.hpp"
#include "report/roof_share.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kJobLimitS = 30;
/// A row of an own kernel is compiled several times over.
constexpr double kOwnKernelS = 4, kLongestS = 60;

double time_limit(const Suite& suite, const AnalyzeOptions& options, const std::vector<std::size_t>& rows) {
  const auto own = std::count_if(rows.begin(), rows.end(), [&](std::size_t row) { return suite.entries[row].kernel; });
  return std::min(options.experiments_s + kOwnKernelS * static_cast<double>(own), kLongestS);
}

/// In the child.
class ExperimentWorker {
 public:
  ExperimentWorker(const Suite& suite, const AnalyzeOptions& options, const Report& report, double end_s)
      : suite_(suite), options_(options), report_(report), end_s_(end_s) {}

  AfterJob run(std::size_t row, const Send& send) {
    if (wall_seconds() > end_s_) return AfterJob::nothing_left;
    try {
      const Point& point = report_.points[row];
      const SuiteEntry entry = with_implementation(suite_.entries[row], point.workload.implementation);
      if (!entry.implementation) return AfterJob::next;
      const auto publish = [&](const std::vector<Experiment>& found) { send(experiments_to_json(found).dump()); };
      publish(experiments_on(entry, point, threads(point.work.threads), threads(1), end_s_, publish));
    } catch (const std::exception&) {
      return AfterJob::fresh_process;
    }
    return AfterJob::next;
  }

 private:
  /// The device with as many of its threads; 0: all of them.
  Device& threads(std::int64_t count) {
    const DeviceChoice& choice = options_.device;
    if (!all_) all_ = open_device(choice.kind, choice.index, choice.options);
    if (count == 0 || count >= all_->info().units) return *all_;
    std::unique_ptr<Device>& some = some_[count];
    if (!some) {
      std::vector<int> cpus = as_cpu(*all_).cpus();
      cpus.resize(static_cast<std::size_t>(count));
      some = open_device(choice.kind, choice.index, {.threads = static_cast<int>(count), .cpus = std::move(cpus)});
    }
    return *some;
  }

  const Suite& suite_;
  const AnalyzeOptions& options_;
  const Report& report_;
  double end_s_;
  std::unique_ptr<Device> all_;
  std::map<std::int64_t, std::unique_ptr<Device>> some_;  ///< by the number of their threads
};

/// True if a kernel's own threads are part of the row: alone on one CPU, as in the experiments, they would only wait
/// for each other.
bool starts_threads(const SuiteEntry& entry) {
  if (!entry.kernel) return false;
  const std::vector<StepSpec>& steps = entry.kernel->steps;
  return std::any_of(steps.begin(), steps.end(), [](const StepSpec& step) {
    const std::vector<std::string>& threads = step.launch.threads;
    return std::find(threads.begin(), threads.end(), kOwnThreads) != threads.end();
  });
}

}  // namespace

std::vector<std::size_t> rows_for_experiments(const Suite& suite, const Report& report) {
  std::vector<std::size_t> rows;
  if (report.machine.device.kind != DeviceKind::cpu) return rows;
  const std::vector<bool> dropped = slower_configurations(suite, report);
  for (const Verdict& verdict : verdicts(report)) {
    const Point& point = report.points[verdict.row];
    const bool by_rate_alone =
        verdict.rule == "no-vectors" || verdict.rule == "one-core" || verdict.rule == "arithmetic-beside";
    const bool by_threads_alone =
        verdict.rule == kSomeThreads && lacks_more_than_idle_threads_cost(point, report.machine);
    if (point.counters || (verdict.kind != VerdictKind::unknown && !by_rate_alone && !by_threads_alone)) continue;
    if (!dropped[verdict.row] && !starts_threads(suite.entries[verdict.row])) rows.push_back(verdict.row);
  }
  return rows;
}

void run_experiments(const Suite& suite, const AnalyzeOptions& options, Report& report) {
  const std::vector<std::size_t> rows = rows_for_experiments(suite, report);
  if (rows.empty() || !(options.experiments_s > 0)) return;
  ExperimentWorker worker(suite, options, report, wall_seconds() + time_limit(suite, options, rows));
  std::size_t done = 0;
  const auto row_of = [&](std::int64_t job) { return rows[static_cast<std::size_t>(job)]; };
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(rows.size());
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(row_of(job), send); };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    done = static_cast<std::size_t>(job) + 1;
    report.points[row_of(job)].experiments = experiments_from_json(Json::parse(text));
  };
  jobs.on_lost = [](std::int64_t, const std::string&) {};  // the row stays unexplained
  jobs.limit_s = [](std::int64_t) { return kJobLimitS; };
  jobs.on_tick = [&] {
    if (done >= rows.size()) return;
    options.progress({static_cast<std::int64_t>(done), jobs.count,
                      "experiments: " + report.points[rows[done]].workload.label, std::nullopt});
  };
  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted || report.cancelled;
}

}  // namespace roofline
