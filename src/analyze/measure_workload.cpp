// What happens to one workload in the child: supported? prepared, verified, and only then sampled.
#include "analyze/measure_workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

std::string with_hint(const Error& error) {
  return error.hint().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.hint());
}

Point& fail(Point& point, const std::string& reason) {
  point.status = PointStatus::failed;
  point.reason = reason;
  return point;
}

Point& skip(Point& point, const std::string& reason) {
  point.status = PointStatus::skipped;
  point.reason = reason;
  return point;
}

/// Verifies, and only what is right is timed.
void run_case(Point& point, Case& workload_case, const SamplerOptions& sampler, bool raw,
              const std::function<bool()>& cancelled) {
  point.buffer_sets = workload_case.buffer_sets();
  point.resident_bytes = workload_case.resident_bytes();
  point.verification = workload_case.verify();
  if (!point.verification->passed) {
    fail(point, "wrong result: " + point.verification->failure);
    return;
  }
  Bench bench = workload_case.bench();
  bench.cancelled = cancelled;
  Samples samples = sample(bench, sampler);
  if (samples.summary.samples == 0) {
    skip(point, samples.summary.stop == StopReason::cancelled ? "cancelled" : "no sample could be taken");
    return;
  }
  if (!(samples.summary.median > 0)) {
    fail(point, fmt::format("the timer gave no usable time ({})", to_string(samples.summary.stop)));
    return;
  }
  point.time = samples.summary;
  if (raw) point.raw_samples = std::move(samples.seconds);
}

}  // namespace

Point planned_point(const SuiteEntry& entry, DeviceKind device) {
  const Workload& workload = entry.workload;
  Point point;
  point.workload = workload;
  if (!entry.skip_reason.empty()) skip(point, entry.skip_reason);
  if (const Op* op = find_op(workload.op)) {
    point.family = op->family();
    point.work = op->work(workload, device);
    if (const auto found = find_implementation(*op, device, workload.implementation)) {
      point.implementation_summary = found->summary;
      if (found->extra_traffic) point.work.extra = found->extra_traffic(workload);
    }
  }
  return point;
}

Point measure_workload(const SuiteEntry& entry, Device& device, const SamplerOptions& sampler, bool raw,
                       const std::function<bool()>& cancelled) {
  const DeviceKind kind = device.info().kind;
  Point point = planned_point(entry, kind);
  if (point.status == PointStatus::skipped) return point;
  try {
    const Op* op = find_op(entry.workload.op);
    if (op == nullptr) return fail(point, fmt::format("unknown op '{}'", entry.workload.op));
    const auto implementation = find_implementation(*op, kind, entry.workload.implementation);
    if (!implementation) {
      return skip(point, fmt::format("{} has no implementation '{}' on {}", entry.workload.op,
                                     entry.workload.implementation, to_string(kind)));
    }
    if (implementation->unsupported) {
      if (auto reason = implementation->unsupported(entry.workload, device)) return skip(point, *reason);
    }
    Case workload_case(*op, *implementation, entry.workload, device);
    run_case(point, workload_case, sampler, raw, cancelled);
  } catch (const PoisonedDevice&) {
    throw;
  } catch (const Error& error) {
    fail(point, with_hint(error));
  } catch (const std::exception& error) {
    fail(point, error.what());
  }
  return point;
}

}  // namespace roofline
