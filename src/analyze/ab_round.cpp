// Both cases exist at the same time, because each pair of blocks needs both.
#include "analyze/ab_round.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyze/choose_implementation.hpp"
#include "analyze/measure_workload.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"

namespace roofline {
namespace {

constexpr double kEstimateS = 1e-3;  // shortest batch from which the time of a launch is estimated
constexpr std::int64_t kMostEstimateLaunches = 1 << 20;
/// Bytes of a side. New memory of that size takes 60 ms at 1 GB/s, less than the timed part of a round.
constexpr double kLeastDealtBytes = 64 << 20;

/// A side that is ready to be timed.
struct PreparedSide {
  SuiteEntry entry;  ///< with the implementation that runs
  std::unique_ptr<Case> prepared;
  Bench bench;
  double launch_s = 0;
  bool hot = false;
};

void end_side(Outcome& outcome, PointStatus status, std::string reason) {
  outcome.status = status;
  outcome.reason = std::move(reason);
  outcome.time.reset();
}

Summary single_time(double seconds) { return summarize({&seconds, 1}); }

/// Seconds per launch, after one untimed batch; 0 if the timer reads nothing.
double estimate_launch_s(const Bench& bench) {
  static_cast<void>(bench.batch(bench.launch_quantum));
  for (std::int64_t launches = bench.launch_quantum;; launches *= 2) {
    const double seconds = bench.batch(launches).seconds;
    if (seconds >= kEstimateS || launches >= kMostEstimateLaunches) return seconds / static_cast<double>(launches);
  }
}

void prepare_side(PreparedSide& side, bool verify, BufferPool* pool, Device& device, Outcome& outcome) {
  const SuiteEntry& entry = side.entry;
  side.hot = entry.workload.cache == CacheMode::hot;
  side.prepared = std::make_unique<Case>(*entry.op, *entry.implementation, entry.workload, device, InputValues::random,
                                         CasePlacement{.pool = pool, .most_free_bytes = kMostFreeOfAb});
  if (verify) {
    outcome.verification = side.prepared->verify();
    if (!outcome.verification->passed) {
      return end_side(outcome, PointStatus::failed, "wrong result: " + outcome.verification->failure);
    }
  }
  side.bench = verify ? side.prepared->bench() : side.prepared->bench_unverified();
  side.launch_s = estimate_launch_s(side.bench);
  if (!(side.launch_s > 0)) return end_side(outcome, PointStatus::failed, "the timer returned no valid time");
  outcome.time = single_time(side.launch_s);
}

/// As prepare_side(), with errors in the outcome.
void try_side(PreparedSide& side, bool verify, BufferPool* pool, Device& device, Outcome& outcome) {
  try {
    prepare_side(side, verify, pool, device, outcome);
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const Unsupported& error) {
    end_side(outcome, PointStatus::skipped, error.what());
  } catch (const Error& error) {
    end_side(outcome, PointStatus::failed, with_hint(error));
  } catch (const std::exception& error) {
    end_side(outcome, PointStatus::failed, error.what());
  }
}

PairedSide paired_side(const PreparedSide& side, const PairOptions& options) {
  // As for a row and its probe: a longer launch has soon brought its own data into the caches.
  const bool short_launch = side.launch_s < options.block_s;
  return {.batch = side.bench.batch,
          .launch_s = side.launch_s,
          .lead_in = short_launch || side.hot,
          .launch_quantum = side.bench.launch_quantum};
}

std::size_t index_of(AbSide side) { return static_cast<std::size_t>(side); }

std::vector<std::int64_t> tensor_bytes(const SuiteEntry& entry) {
  std::vector<std::int64_t> bytes;
  for (const TensorSpec& tensor : entry.op->tensors(entry.workload)) bytes.push_back(guarded_bytes(tensor));
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

}  // namespace

bool is_dealt(const std::array<const SuiteEntry*, 2>& entries, const Device& device) {
  if (device.info().kind != DeviceKind::cpu) return false;
  const auto& [before, now] = entries;
  if (before->workload.cache != now->workload.cache || tensor_bytes(*before) != tensor_bytes(*now)) return false;
  const LastLevelCache cache{
      .bytes = device.last_level_cache_bytes(), .device = DeviceKind::cpu, .free_memory_bytes = kMostFreeOfAb};
  return case_bytes(*now->op, now->workload, cache) >= kLeastDealtBytes;
}

AbRoundResult measure_ab_round(const AbRoundPlan& plan, Device& device, const PairOptions& options,
                               const std::function<void(std::optional<AbSide>)>& at) {
  AbRoundResult result;
  BufferPool* const pool = plan.pool != nullptr && is_dealt(plan.entries, device) ? plan.pool : nullptr;
  const AbSide second = plan.first == AbSide::before ? AbSide::now : AbSide::before;
  std::array<std::unique_ptr<Buffer>, 2> held;
  std::array<PreparedSide, 2> sides;  // destroyed before the memory between them
  for (const AbSide which : {plan.first, second}) {
    const std::size_t side = index_of(which);
    at(which);
    if (pool == nullptr && plan.held_bytes[side] > 0) {
      held[side] = device.allocate(plan.held_bytes[side]);
      device.fill(held[side]->data(), std::byte{1}, plan.held_bytes[side]);
    }
    sides[side].entry = choose_implementation(*plan.entries[side], device);
    result.implementations[side] = sides[side].entry.workload.implementation;
    try_side(sides[side], plan.verify, pool, device, result.sides[side]);
  }
  if (result.sides[0].status != PointStatus::ok || result.sides[1].status != PointStatus::ok) return result;
  at(std::nullopt);
  const auto contention = device.watch_contention();
  const std::optional<PairedRatio> pairs =
      sample_pairs(paired_side(sides[index_of(plan.first)], options), paired_side(sides[index_of(second)], options),
                   wall_seconds, interrupted, options);
  const Contention seen = contention();
  for (Outcome& outcome : result.sides) {
    if (!pairs) {
      end_side(outcome, PointStatus::skipped, interrupted() ? "cancelled" : "its launches are too long for six pairs");
    }
    if (is_significant(seen)) outcome.contention = seen;
  }
  if (!pairs) return result;
  result.ratio = plan.first == AbSide::before ? *pairs : pairs->inverted();
  result.sides[index_of(AbSide::before)].time = single_time(result.ratio->kernel_s);
  result.sides[index_of(AbSide::now)].time = single_time(result.ratio->reference_s);
  return result;
}

}  // namespace roofline
