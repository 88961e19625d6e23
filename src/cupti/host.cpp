#include "cupti/host.hpp"

#include <utility>

namespace roofline {

void CuptiHost::Release::operator()(CUpti_Profiler_Host_Object* host) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  static_cast<void>(profiler->host_deinitialize(&params));
}

CuptiHost::CuptiHost(const CuptiProfiler& profiler, CUpti_ProfilerType type, std::string chip,
                     std::span<const std::uint8_t> availability)
    : profiler_(&profiler),
      chip_(std::move(chip)),
      availability_(availability.begin(), availability.end()),
      host_(nullptr, Release{&profiler}) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = type;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  profiler.check(profiler.host_initialize(&params), "preparing the counters of this chip");
  host_.reset(params.pHostObject);
}

bool CuptiHost::has(const std::string& metric) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
  params.pHostObject = host_.get();
  params.pMetricName = metric.c_str();
  return profiler_->metric_properties(&params) == CUPTI_SUCCESS;
}

CUptiResult CuptiHost::add(std::vector<const char*>& metrics) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
  params.pHostObject = host_.get();
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  return profiler_->add_metrics(&params);
}

CuptiHost::Schedule CuptiHost::schedule_added() const {
  constexpr const char* kPlanning = "planning the counters";
  Schedule schedule;
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_.get();
  profiler_->check(profiler_->config_size(&size), kPlanning);
  schedule.image.resize(size.configImageSize);
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_.get();
  image.configImageSize = schedule.image.size();
  image.pConfigImage = schedule.image.data();
  profiler_->check(profiler_->config_image(&image), kPlanning);
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = schedule.image.size();
  passes.pConfigImage = schedule.image.data();
  profiler_->check(profiler_->passes(&passes), kPlanning);
  schedule.passes = passes.numOfPasses;
  return schedule;
}

CuptiHost::Schedule CuptiHost::schedule(std::vector<const char*> metrics) {
  profiler_->check(add(metrics), "choosing the counters");
  return schedule_added();
}

std::optional<std::vector<std::uint8_t>> CuptiHost::one_pass(std::vector<const char*> metrics) {
  if (add(metrics) != CUPTI_SUCCESS) return std::nullopt;
  Schedule schedule = schedule_added();
  return schedule.passes == 1 ? std::optional(std::move(schedule.image)) : std::nullopt;
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
  profiler_->check(profiler_->evaluate(&params), "reading the counters");
  return values;
}

std::vector<const char*> c_strings(std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace roofline
