#include "analyze/count_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "analyze/count_workload.hpp"
#include "analyze/measure_workload.hpp"
#include "analyze/workload_worker.hpp"
#include "device/isolate.hpp"
#include "model/error.hpp"
#include "report/json/counters_json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

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
      for (std::size_t i = 0; i < entries.size(); ++i) send(Json({{"refused", with_hint(error)}}).dump());
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

}  // namespace

void count_rows(const Suite& suite, const AnalyzeOptions& options, Report& report) {
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

}  // namespace roofline
