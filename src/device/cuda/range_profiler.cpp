// Counts one launch with CUPTI's range profiler: a launch, whatever kernels it consists of, is one range, and is run
// again for every pass. User ranges, user replay: nothing is saved and restored, because launches can be repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "device/cuda/counter_plan.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/open.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

/// The context's profiler, switched on.
class Profiler {
 public:
  Profiler() {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
    check_cupti(cupti().enable(&params), "switching the counters on");
    object_ = params.pRangeProfilerObject;
  }
  ~Profiler() { static_cast<void>(call<CUpti_RangeProfiler_Disable_Params>(cupti().disable)); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  CUpti_RangeProfiler_Object* get() const { return object_; }

  void start() const { check_cupti(call<CUpti_RangeProfiler_Start_Params>(cupti().start), "starting the counters"); }
  /// Ranges keep the order in which they begin. Their names must differ within a pass, and repeat from pass to pass.
  void begin_range(const std::string& name) const {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
    params.pRangeProfilerObject = object_;
    params.pRangeName = name.c_str();
    check_cupti(cupti().push_range(&params), "beginning a counted range");
  }
  void end_range() const {
    check_cupti(call<CUpti_RangeProfiler_PopRange_Params>(cupti().pop_range), "ending a counted range");
  }
  /// Whether that was the last pass.
  bool stop() const {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    check_cupti(cupti().stop(&params), "stopping the counters");
    return params.isAllPassSubmitted != 0;
  }
  void decode() const {
    check_cupti(call<CUpti_RangeProfiler_DecodeData_Params>(cupti().decode), "decoding the counters");
  }

 private:
  /// For the calls that take nothing but the object.
  template <typename Params, typename Function>
  CUptiResult call(Function* function) const {
    Params params = {};
    // The size of a block is where its last field ends: the object's, in all of these but one with an output behind.
    params.structSize = sizeof(Params);
    params.pRangeProfilerObject = object_;
    return function(&params);
  }

  CUpti_RangeProfiler_Object* object_ = nullptr;
};

std::vector<std::uint8_t> availability() {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  check_cupti(cupti().availability(&params), "asking which counters can be read");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(cupti().availability(&params), "asking which counters can be read");
  return image;
}

CounterPlan make_plan(const CudaDevice& device, CounterSet set) {
  const std::string chip = profiled_chip(device.properties().index);  // opens what availability() asks
  return {chip, set, availability()};
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
      if (full_ && works_unseen(all[i])) all[i] = count_by(*full_, {launches[i]}).front();
    }
    return all;
  }

 private:
  /// Whether the tensor cores did what the standard set has no room for: products by mma.sync in tf32 and int8 take
  /// passes of their own, which every other launch is spared.
  static bool works_unseen(const Counters& counters) {
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
    profiler_.reset();
    profiler_.emplace();
    in_use_ = &plan;
  }

  // Pass by pass and not launch by launch: to change the counters takes longer than most launches.
  std::vector<Counters> count_by(const CounterPlan& plan, const std::vector<LaunchFunction>& launches) {
    use(plan);
    std::vector<Counters> all(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      all[i].kernels = cuda_launch_layout(device_, [&] { launches[i](0); });
      all[i].source = fmt::format("CUPTI {} on {}", cupti().version, plan.chip());
    }
    std::vector<std::uint8_t> data = make_room(plan, launches.size());
    configure(plan, data, launches.size());
    std::int64_t passes = 0;
    for (bool done = false; !done; ++passes) {
      profiler_->start();
      for (std::size_t i = 0; i < launches.size(); ++i) count_range(launches[i], 2 * passes, fmt::format("{:04}", i));
      done = profiler_->stop();
    }
    profiler_->decode();
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].passes = passes;
      const bool complete = read(plan, data, i, all[i]);
      // Instrumented counts get lost where one kernel runs in many ranges of a pass: such a launch is counted alone.
      if (!complete && launches.size() > 1) all[i] = count_by(plan, {launches[i]}).front();
    }
    return all;
  }

  void count_range(const LaunchFunction& launch, std::int64_t number, const std::string& name) {
    launch(number);
    device_.synchronize();
    profiler_->begin_range(name);
    launch(number + 1);
    device_.synchronize();
    profiler_->end_range();
  }

  /// A counter data image for that many ranges.
  std::vector<std::uint8_t> make_room(const CounterPlan& plan, std::size_t ranges) const {
    std::vector<const char*> names = plan.names();
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = profiler_->get();
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check_cupti(cupti().data_size(&size), "making room for the counters");
    std::vector<std::uint8_t> data(size.counterDataSize);
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
    image.pRangeProfilerObject = profiler_->get();
    image.counterDataSize = data.size();
    image.pCounterData = data.data();
    check_cupti(cupti().data_initialize(&image), "making room for the counters");
    return data;
  }

  void configure(const CounterPlan& plan, std::vector<std::uint8_t>& data, std::size_t ranges) {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = profiler_->get();
    config.configSize = plan.config().size();
    config.pConfig = plan.config().data();
    config.counterDataImageSize = data.size();
    config.pCounterDataImage = data.data();
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = ranges;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    check_cupti(cupti().set_config(&config), "configuring the counters");
  }

  /// Whether every metric had a value.
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
  std::optional<Profiler> profiler_;
  const CounterPlan* in_use_ = nullptr;
};

}  // namespace

std::unique_ptr<CounterReader> open_cuda_counters(Device& device, CounterSet set) {
  return std::make_unique<RangeProfiler>(as_cuda(device), set);
}

}  // namespace roofline
