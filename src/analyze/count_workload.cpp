// Runs the timed cases in the same buffers, launched individually.
#include "analyze/count_workload.hpp"

#include <list>

#include "analyze/choose_implementation.hpp"
#include "op/case.hpp"

namespace roofline {

std::vector<Counters> count_workloads(std::span<const SuiteEntry* const> entries, Device& device,
                                      CounterReader& reader) {
  std::list<Case> cases;  // which can't be moved
  std::vector<LaunchFunction> launches;
  for (const SuiteEntry* entry : entries) {
    const SuiteEntry here = choose_implementation(*entry, device);
    Case& made = cases.emplace_back(*here.op, *here.implementation, here.workload, device, InputValues::repeated);
    launches.emplace_back([&made, &device](std::int64_t launch) { device.run_as_timed([&] { made.launch(launch); }); });
  }
  return reader.count(launches);
}

std::int64_t run_workload_profiled(const SuiteEntry& entry, Device& device) {
  Case made(*entry.op, *entry.implementation, entry.workload, device, InputValues::repeated);
  made.launch(0);
  device.synchronize();
  device.run_profiled([&] { made.launch(1); });
  return static_cast<std::int64_t>(launch_layout(device, [&] { made.launch(0); }).size());
}

}  // namespace roofline
