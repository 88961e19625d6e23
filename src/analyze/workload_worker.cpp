#include "analyze/workload_worker.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/choose_implementation.hpp"
#include "analyze/follow.hpp"
#include "analyze/measure_workload.hpp"
#include "host/interrupt.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

Outcome without_run(PointStatus status, std::string reason) {
  Outcome outcome;
  outcome.status = status;
  outcome.reason = std::move(reason);
  return outcome;
}

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

std::optional<double> limit_of(const SuiteEntry& entry, const AnalyzeOptions& options) {
  const std::optional<double> own = entry.time_limit_s();
  if (!own || !options.row_limit_s) return own ? own : options.row_limit_s;
  return std::min(*own, *options.row_limit_s);
}

AfterJob WorkloadWorker::run(std::int64_t job, const Send& send) {
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
           .dump(-1, ' ', false, Json::error_handler_t::replace));
  return after;
}

Outcome WorkloadWorker::measure(const SuiteEntry& entry, std::string& implementation, const Send& send) {
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
void WorkloadWorker::pair(const SuiteEntry& entry, Outcome& outcome, const Bench& bench) {
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

}  // namespace roofline
