// Counts one launch with CUPTI's range profiler: a launch, whatever kernels it consists of, is one range, and is run
// again for every pass. User ranges, user replay: nothing is saved and restored, because launches can be repeated.
#include <fmt/format.h>

#include <cmath>

#include "device/cuda/counter_plan.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/kernel_launches.hpp"
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
  void begin_range() const {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, params);
    params.pRangeProfilerObject = object_;
    params.pRangeName = "launch";
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

std::string chip_of(int device) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  params.deviceIndex = static_cast<std::size_t>(device);
  check_cupti(cupti().chip_name(&params), "asking for the chip's name");
  return params.pChipName;
}

std::vector<std::uint8_t> availability() {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  check_cupti(cupti().availability(&params), "asking which counters can be read");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(cupti().availability(&params), "asking which counters can be read");
  return image;
}

CounterPlan make_plan(const CudaDevice& device, CounterSet set) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  check_cupti(cupti().initialize(&params), "opening the profiler");
  return {chip_of(device.properties().index), set, availability()};
}

class RangeProfiler final : public CounterReader {
 public:
  RangeProfiler(CudaDevice& device, CounterSet set) : device_(device), plan_(make_plan(device, set)) {
    std::vector<const char*> names = plan_.names();
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, params);
    params.pRangeProfilerObject = profiler_.get();
    params.pMetricNames = names.data();
    params.numMetrics = names.size();
    params.maxNumOfRanges = 1;
    params.maxNumRangeTreeNodes = 1;
    check_cupti(cupti().data_size(&params), "making room for the counters");
    data_.resize(params.counterDataSize);
  }

  Counters count(const std::function<void(std::int64_t launch)>& launch) override {
    Counters counters;
    counters.kernels = kernel_launches(device_, [&] { launch(0); });
    configure();
    std::int64_t number = 0;
    for (bool done = false; !done; ++counters.passes) {
      launch(number++);
      device_.synchronize();
      profiler_.start();
      profiler_.begin_range();
      launch(number++);
      device_.synchronize();
      profiler_.end_range();
      done = profiler_.stop();
    }
    profiler_.decode();
    read(counters);
    counters.source = fmt::format("CUPTI {} on {}", cupti().version, plan_.chip());
    return counters;
  }

 private:
  void configure() {
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data);
    data.pRangeProfilerObject = profiler_.get();
    data.counterDataSize = data_.size();
    data.pCounterData = data_.data();
    check_cupti(cupti().data_initialize(&data), "making room for the counters");
    ROOFLINE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = profiler_.get();
    config.configSize = plan_.config().size();
    config.pConfig = plan_.config().data();
    config.counterDataImageSize = data_.size();
    config.pCounterDataImage = data_.data();
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = 1;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    check_cupti(cupti().set_config(&config), "configuring the counters");
  }

  void read(Counters& counters) const {
    const std::vector<double> values = plan_.evaluate(data_);
    counters.missing = plan_.missing();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const PlannedMetric& planned = plan_.metrics()[i];
      const std::string id(planned.metric->id);
      if (std::isfinite(values[i])) {
        counters.values[id] = values[i];
      } else {
        counters.missing[id] = fmt::format("{} gave no value for this launch", planned.name);
      }
    }
  }

  CudaDevice& device_;
  CounterPlan plan_;
  Profiler profiler_;
  std::vector<std::uint8_t> data_;
};

}  // namespace

std::unique_ptr<CounterReader> open_cuda_counters(Device& device, CounterSet set) {
  return std::make_unique<RangeProfiler>(as_cuda(device), set);
}

}  // namespace roofline
