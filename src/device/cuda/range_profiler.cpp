// Counts one launch with CUPTI's range profiler: a launch, whatever kernels it consists of, is one range, and is run
// again for every pass. User ranges, user replay: nothing is saved and restored, because launches can be repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "cupti/range_session.hpp"
#include "device/cuda/counter_plan.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cupti.hpp"
#include "device/cuda/open.hpp"

namespace roofline {
namespace {

CounterPlan make_plan(const CudaDevice& device, CounterSet set) {
  const int index = device.properties().index;
  const std::string chip = cupti().chip_name(index);
  cupti().require_support(index);
  return {chip, set, cupti().availability()};
}

class RangeProfiler final : public CounterReader {
 public:
  RangeProfiler(CudaDevice& device, CounterSet set) : device_(device), plan_(make_plan(device, set)) {
    if (set == CounterSet::standard) full_.emplace(make_plan(device, CounterSet::full));
    use(plan_);  // whether counting is allowed is known from here on
  }

  std::vector<Counters> count(const std::vector<LaunchFunction>& launches) override {
    std::vector<Counters> all = count_by(plan_, launches);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (full_ && lacks_tensor_work(all[i])) all[i] = count_by(*full_, {launches[i]}).front();
    }
    return all;
  }

 private:
  /// True if the tensor cores did what the standard set has no room for: products by mma.sync in tf32 and int8 take
  /// passes of their own, which every other launch is spared.
  static bool lacks_tensor_work(const Counters& counters) {
    constexpr double kIdle = 0.05;  // half arithmetic runs on the same pipe
    const std::map<Pipe, double> flops = counted_flops(counters);
    const bool seen = std::any_of(flops.begin(), flops.end(), [](const auto& entry) {
      return to_string(entry.first).starts_with("tensor.") && entry.second > 0;
    });
    return !seen && counters.find("tensor.active").value_or(0) > kIdle;
  }

  /// A profiler keeps to the plan that it began with: another one counts nothing.
  void use(const CounterPlan& plan) {
    if (in_use_ == &plan) return;
    session_.reset();
    session_.emplace(cupti());
    in_use_ = &plan;
  }

  // Pass by pass and not launch by launch: to change the counters takes longer than most launches.
  std::vector<Counters> count_by(const CounterPlan& plan, const std::vector<LaunchFunction>& launches) {
    use(plan);
    std::vector<Counters> all(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      all[i].kernels = cuda_launch_layout(device_, [&] { launches[i](0); });
      all[i].source = counter_source(plan.chip());
    }
    session_->configure(plan.names(), plan.config(), launches.size(), CountedRange::user);
    std::int64_t passes = 0;
    for (bool done = false; !done; ++passes) {
      session_->start();
      for (std::size_t i = 0; i < launches.size(); ++i) count_range(launches[i], 2 * passes, fmt::format("{:04}", i));
      done = session_->stop();
    }
    session_->decode();
    std::vector<std::size_t> incomplete;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].passes = passes;
      if (!read(plan, session_->data(), i, all[i])) incomplete.push_back(i);
    }
    // Instrumented counts get lost where one kernel runs in many ranges of a pass: such a launch is counted alone.
    if (launches.size() > 1) {
      for (const std::size_t i : incomplete) all[i] = count_by(plan, {launches[i]}).front();
    }
    return all;
  }

  void count_range(const LaunchFunction& launch, std::int64_t number, const std::string& name) {
    launch(number);
    device_.synchronize();
    session_->begin_range(name);
    launch(number + 1);
    device_.synchronize();
    session_->end_range();
  }

  /// True if every metric had a value.
  static bool read(const CounterPlan& plan, std::span<const std::uint8_t> data, std::size_t range, Counters& counters) {
    const std::vector<double> values = plan.evaluate(data, range);
    counters.missing = plan.missing();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const PlannedMetric& planned = plan.metrics()[i];
      const std::string id(planned.metric->id);
      if (std::isfinite(values[i])) {
        counters.values[id] = values[i];
      } else {
        counters.missing[id] = fmt::format("{} gave no value for this launch", planned.name);
      }
    }
    return counters.missing.size() == plan.missing().size();
  }

  CudaDevice& device_;
  CounterPlan plan_;
  std::optional<CounterPlan> full_;  ///< for launches whose work the standard set does not see
  std::optional<CuptiRangeSession> session_;
  const CounterPlan* in_use_ = nullptr;
};

}  // namespace

std::unique_ptr<CounterReader> open_cuda_counters(Device& device, CounterSet set) {
  return std::make_unique<RangeProfiler>(as_cuda(device), set);
}

}  // namespace roofline
