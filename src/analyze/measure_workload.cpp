// One workload in the child: prepared, verified, then sampled.
#include "analyze/measure_workload.hpp"

#include <fmt/format.h>

#include "model/error.hpp"
#include "op/case.hpp"

namespace roofline {
namespace {

void end(Outcome& outcome, PointStatus status, std::string reason) {
  outcome.status = status;
  outcome.reason = std::move(reason);
}

/// Of a kernel that was right before it was timed, and is wrong for other inputs after it.
std::string_view when_wrong(Case& after, const SuiteEntry& entry, Device& device) {
  constexpr int kMoreRuns = 3;
  for (int i = 0; i < kMoreRuns; ++i) {
    if (after.verify().passed) {
      return "in some runs with the same inputs (a race between threads, or data that was not initialised)";
    }
  }
  Case first(*entry.op, *entry.implementation, entry.workload, device);
  return first.verify().passed
             ? "after timing, for other inputs"
             : "when it is launched again with the same inputs (a race between threads, or state left "
               "by earlier launches)";
}

/// Verifies, and samples only if the result is correct. Kernels of a suite are verified again afterwards; those of
/// roofline have tests.
void run_case(Outcome& outcome, const SuiteEntry& entry, Case& workload_case, Device& device,
              const SamplerOptions& sampler, bool raw, const std::function<bool()>& cancelled,
              const std::function<void(Outcome&, const Bench&)>& after_sampling) {
  outcome.buffer_sets = workload_case.buffer_sets();
  outcome.resident_bytes = workload_case.resident_bytes();
  outcome.verification = workload_case.verify();
  if (!outcome.verification->passed) {
    end(outcome, PointStatus::failed, "wrong result: " + outcome.verification->failure);
    return;
  }
  Bench bench = workload_case.bench();
  bench.cancelled = cancelled;
  const auto contention = device.watch_contention(entry.implementation->threads);
  Samples samples = sample(bench, sampler);
  const Contention seen = contention();
  const StopReason stop = samples.summary.stop;
  if (samples.summary.samples == 0) {
    end(outcome, PointStatus::skipped, stop == StopReason::cancelled ? "cancelled" : "no sample could be taken");
    return;
  }
  if (!(samples.summary.median > 0)) {
    end(outcome, PointStatus::failed, fmt::format("the timer returned no valid time ({})", to_string(stop)));
    return;
  }
  outcome.time = samples.summary;
  if (is_significant(seen)) outcome.contention = seen;
  if (raw) outcome.raw_samples = std::move(samples.seconds);
  after_sampling(outcome, bench);
  if (entry.kernel == nullptr) return;
  if (Verification again = workload_case.verify_again(); !again.passed) {
    Outcome wrong;
    const std::string_view when = when_wrong(workload_case, entry, device);
    end(wrong, PointStatus::failed, fmt::format("wrong result {}: {}", when, again.failure));
    wrong.buffer_sets = outcome.buffer_sets;
    wrong.resident_bytes = outcome.resident_bytes;
    wrong.verification = std::move(again);
    outcome = std::move(wrong);
  }
}

}  // namespace

std::string with_hint(const Error& error) {
  return error.hint().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.hint());
}

Outcome measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                         const std::function<bool()>& cancelled,
                         const std::function<void(Outcome&, const Bench&)>& after_sampling) {
  Outcome outcome;
  try {
    Case workload_case(*entry.op, *entry.implementation, entry.workload, device);
    run_case(outcome, entry, workload_case, device, sampler, raw, cancelled, after_sampling);
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const Unsupported& error) {
    end(outcome, PointStatus::skipped, error.what());
  } catch (const Error& error) {
    end(outcome, PointStatus::failed, with_hint(error));
  } catch (const std::exception& error) {
    end(outcome, PointStatus::failed, error.what());
  }
  return outcome;
}

}  // namespace roofline
