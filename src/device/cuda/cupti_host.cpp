#include "device/cuda/cupti_host.hpp"

#include <utility>

namespace roofline {

std::string profiled_chip(int device) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  check_cupti(cupti().initialize(&initialize), "opening the profiler");
  ROOFLINE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  params.deviceIndex = static_cast<std::size_t>(device);
  check_cupti(cupti().chip_name(&params), "asking for the chip's name");
  return params.pChipName;
}

void CuptiHost::Release::operator()(CUpti_Profiler_Host_Object* host) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  static_cast<void>(cupti().host_deinitialize(&params));
}

CuptiHost::CuptiHost(CUpti_ProfilerType type, std::string chip, std::span<const std::uint8_t> availability)
    : chip_(std::move(chip)), availability_(availability.begin(), availability.end()) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = type;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check_cupti(cupti().host_initialize(&params), "preparing the counters of this chip");
  host_.reset(params.pHostObject);
}

bool CuptiHost::has(const std::string& metric) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
  params.pHostObject = host_.get();
  params.pMetricName = metric.c_str();
  return cupti().metric_properties(&params) == CUPTI_SUCCESS;
}

CuptiHost::Schedule CuptiHost::schedule(std::vector<const char*> metrics) const {
  Schedule schedule;
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_.get();
  add.ppMetricNames = metrics.data();
  add.numMetrics = metrics.size();
  check_cupti(cupti().add_metrics(&add), "choosing the counters");
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_.get();
  check_cupti(cupti().config_size(&size), "planning the counters");
  schedule.image.resize(size.configImageSize);
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_.get();
  image.configImageSize = schedule.image.size();
  image.pConfigImage = schedule.image.data();
  check_cupti(cupti().config_image(&image), "planning the counters");
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = schedule.image.size();
  passes.pConfigImage = schedule.image.data();
  check_cupti(cupti().passes(&passes), "planning the counters");
  schedule.passes = passes.numOfPasses;
  return schedule;
}

std::vector<double> CuptiHost::evaluate(std::vector<const char*> metrics, std::span<const std::uint8_t> counter_data,
                                        std::size_t index) const {
  std::vector<double> values(metrics.size());
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = host_.get();
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = index;
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  params.pMetricValues = values.data();
  check_cupti(cupti().evaluate(&params), "reading the counters");
  return values;
}

}  // namespace roofline
