// The same cases as are timed, in the same buffers, launched by hand.
#include "analyze/count_workload.hpp"

#include <fmt/format.h>

#include <memory>

#include "model/error.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

std::unique_ptr<Case> make_case(const SuiteEntry& entry, Device& device) {
  const Workload& workload = entry.workload;
  const Op* op = find_op(workload.op);
  if (op == nullptr) throw Error(fmt::format("unknown op '{}'", workload.op));
  const auto found = find_implementation(*op, device.info().kind, workload.implementation);
  if (!found) throw Error(fmt::format("{} has no implementation '{}'", workload.op, workload.implementation));
  if (found->unsupported) {
    if (const auto reason = found->unsupported(workload, device)) throw Error(*reason);
  }
  return std::make_unique<Case>(*op, *found, workload, device, InputValues::repeated);
}

}  // namespace

std::vector<Counters> count_workloads(std::span<const SuiteEntry* const> entries, Device& device,
                                      CounterReader& reader) {
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<LaunchFunction> launches;
  for (const SuiteEntry* entry : entries) {
    cases.push_back(make_case(*entry, device));
    launches.emplace_back([made = cases.back().get()](std::int64_t launch) { made->launch(launch); });
  }
  return reader.count(launches);
}

std::int64_t run_workload_profiled(const SuiteEntry& entry, Device& device) {
  const std::unique_ptr<Case> made = make_case(entry, device);
  made->launch(0);
  device.synchronize();
  device.run_profiled([&] { made->launch(1); });
  return static_cast<std::int64_t>(launch_layout(device, [&] { made->launch(0); }).size());
}

}  // namespace roofline
