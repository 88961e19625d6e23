#include "profile/idle/launch_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "measure/statistics.hpp"
#include "profile/causes/detectors.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// True if the launching thread waited for the GPU at that time.
bool waited(const std::vector<HostCalls>& calls_of, const StepActivity& entry, const Span& time) {
  const HostCalls& calls = calls_of[static_cast<std::size_t>(entry.activity->process)];
  const std::span<const HostCall> within = calls.within(StepActivities::thread(entry), time);
  return std::any_of(within.begin(), within.end(), [](const HostCall& call) { return call.waited.has_value(); });
}

}  // namespace

LaunchRates::LaunchRates(const Recording& recording, const StepActivities& activities,
                         const std::vector<HostCalls>& calls)
    : recording_(recording), activities_(activities), eager_(activities), item_loops_(activities) {
  for (const OptimizerRun& run : optimizer_runs(activities)) {
    for (const StepActivity* launch : run.launches) optimizer_.insert(launch->activity);
  }
  find_first();
  find_rates(calls);
  find_loops();
}

void LaunchRates::find_first() {
  std::set<std::pair<int, std::string_view>> known;
  for (const Activity& activity : recording_.activities) {
    if (activity.what != ActivityKind::kernel || activity.graph >= 0) continue;
    const std::string_view kernel = recording_.groups[static_cast<std::size_t>(activity.group)].symbol;
    if (known.emplace(activity.process, kernel).second) first_.insert(&activity);
  }
}

/// Finds the time of kernels and of their launches by the host, for each device.
void LaunchRates::find_rates(const std::vector<HostCalls>& calls) {
  std::map<int, std::vector<double>> kernels, intervals;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> launched;
  for (const StepActivity& entry : activities_.all) {
    if (entry.activity->what == ActivityKind::kernel) kernels[entry.activity->device].push_back(entry.seconds);
    const spool::Launch* const launch = entry.activity->launch;
    if (launch == nullptr) continue;
    std::uint64_t& last = launched[{entry.activity->process, launch->thread}];
    constexpr std::uint64_t kNoPause = 200'000;
    if (last != 0 && launch->start > last && launch->start - last < kNoPause &&
        !waited(calls, entry, {last, launch->start})) {
      intervals[entry.activity->device].push_back(seconds(launch->start - last));
    }
    last = launch->start;
  }
  for (auto& [device, times] : kernels) kernel_s_[device] = median(std::move(times));
  for (auto& [device, times] : intervals) launch_s_[device] = median(std::move(times));
}

/// Devices on which XLA runs a loop: most of what its compiled code launches in a step are a few kernels, again and
/// again. Programs in Python repeat kernels for their layers.
void LaunchRates::find_loops() {
  constexpr double kOften = 64;  // times in a step
  if (framework_of(recording_) != Framework::jax || activities_.steps.empty()) return;
  std::map<int, std::map<int, double>> launches;  // by device and group
  for (const StepActivity& entry : activities_.all) {
    if (entry.activity->what == ActivityKind::kernel) ++launches[entry.activity->device][entry.activity->group];
  }
  const auto steps = static_cast<double>(activities_.steps.size());
  for (const auto& [device, groups] : launches) {
    double all = 0, often = 0;
    for (const auto& [group, count] : groups) {
      all += count;
      if (count >= kOften * steps) often += count;
    }
    if (often > 0.5 * all) loops_.insert(device);
  }
}

bool LaunchRates::by_graph(const Activity& activity) const {
  if (activity.what != ActivityKind::kernel) return false;
  if (activity.graph >= 0 || recording_.groups[static_cast<std::size_t>(activity.group)].graph()) return true;
  return recording_.traces[static_cast<std::size_t>(activity.process)].kernels[activity.index].graph_node != 0;
}

SavingCause LaunchRates::cause_of(const Activity& launched, int device) const {
  if (optimizer_.contains(&launched)) return SavingCause::unfused_optimizer;
  const auto kernel = kernel_s_.find(device);
  const auto launch = launch_s_.find(device);
  const bool tiny = kernel != kernel_s_.end() && launch != launch_s_.end() && kernel->second < launch->second;
  return tiny ? SavingCause::tiny_kernels : SavingCause::launch_rate;
}

CauseDetail LaunchRates::loop_of(const Activity& launched, int device) const {
  if (eager_.launched(recording_, launched)) return CauseDetail::eager_programs;
  if (loops_.contains(device)) return CauseDetail::kernel_loop;
  return item_loops_.of(recording_, launched);
}

std::optional<std::string> LaunchRates::fact(int device) const {
  const auto kernel = kernel_s_.find(device);
  const auto launch = launch_s_.find(device);
  if (kernel == kernel_s_.end() || launch == launch_s_.end()) return std::nullopt;
  return fmt::format("median kernel {}, a launch every {}", duration(kernel->second), duration(launch->second));
}

}  // namespace roofline
