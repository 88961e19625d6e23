// Spelling, and the choice between the kinds of device.
#include "device/counter_reader.hpp"

#include <array>

#include "device/cpu/perf_counters.hpp"
#include "device/cuda/open.hpp"
#include "device/device.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {
constexpr std::array<std::string_view, 2> kSets = {"standard", "full"};
}

std::string_view to_string(CounterSet set) { return spell(kSets, set); }

std::vector<KernelLaunch> launch_layout(Device& device, const std::function<void()>& launch) {
  if (device.info().kind == DeviceKind::cuda) return cuda_launch_layout(device, launch);
  return {};
}

std::unique_ptr<CounterReader> make_counter_reader(Device& device, CounterSet set) {
  if (device.info().kind == DeviceKind::cuda) return open_cuda_counters(device, set);
  return make_perf_reader(perf_events(set));
}

}  // namespace roofline
