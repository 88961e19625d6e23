// Candidates are asked for one by one; all that are found go into one configuration.
#include "device/cuda/counter_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/error.hpp"

namespace roofline {

void CounterPlan::Release::operator()(CUpti_Profiler_Host_Object* host) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  static_cast<void>(cupti().host_deinitialize(&params));
}

CounterPlan::CounterPlan(const std::string& chip, CounterSet set, std::span<const std::uint8_t> availability)
    : chip_(chip), availability_(availability.begin(), availability.end()) {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check_cupti(cupti().host_initialize(&params), "preparing the counters of this chip");
  host_ = Host(params.pHostObject);
  choose(set);
  configure();
}

bool CounterPlan::has(const std::string& metric) const {
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
  params.pHostObject = host_.get();
  params.pMetricName = metric.c_str();
  return cupti().metric_properties(&params) == CUPTI_SUCCESS;
}

void CounterPlan::choose(CounterSet set) {
  for (const CounterMetric& metric : counter_metrics()) {
    if (metric.set == CounterSet::full && set != CounterSet::full) continue;
    std::vector<std::string> tried;
    for (const std::string_view candidate : metric.candidates) {
      if (candidate.empty()) break;
      tried.emplace_back(candidate);
      if (!has(tried.back())) continue;
      metrics_.push_back({&metric, tried.back()});
      tried.clear();
      break;
    }
    if (!tried.empty()) missing_[std::string(metric.id)] = fmt::format("{} has no {}", chip_, fmt::join(tried, ", "));
  }
}

std::vector<const char*> CounterPlan::names() const {
  std::vector<const char*> names;
  for (const PlannedMetric& metric : metrics_) names.push_back(metric.name.c_str());
  return names;
}

void CounterPlan::configure() {
  std::vector<const char*> all = names();
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_.get();
  add.ppMetricNames = all.data();
  add.numMetrics = all.size();
  check_cupti(cupti().add_metrics(&add), "choosing the counters");
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_.get();
  check_cupti(cupti().config_size(&size), "planning the counters");
  config_.resize(size.configImageSize);
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_.get();
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  check_cupti(cupti().config_image(&image), "planning the counters");
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  check_cupti(cupti().passes(&passes), "planning the counters");
  passes_ = passes.numOfPasses;
}

std::vector<double> CounterPlan::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range) const {
  std::vector<const char*> all = names();
  std::vector<double> values(all.size());
  ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = host_.get();
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = all.data();
  params.numMetrics = all.size();
  params.pMetricValues = values.data();
  check_cupti(cupti().evaluate(&params), "reading the counters");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= metrics_[i].metric->scale;
  return values;
}

}  // namespace roofline
