#include "inject/counter_groups.hpp"

#include <algorithm>
#include <istream>
#include <sstream>
#include <utility>

namespace roofline::inject {

std::vector<Quantity> read_quantities(std::istream& file) {
  std::vector<Quantity> quantities;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Quantity quantity;
    if (!(words >> quantity.id >> quantity.scale)) continue;
    for (std::string name; words >> name;) quantity.candidates.push_back(name);
    quantities.push_back(std::move(quantity));
  }
  return quantities;
}

std::vector<const char*> CounterGroup::name_pointers() const {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

void ReleaseHost::operator()(CUpti_Profiler_Host_Object* host) const {
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host;
  static_cast<void>(profiler->host_deinitialize(&params));
}

CounterGroups::CounterGroups(const Profiler& profiler, std::string chip, std::vector<std::uint8_t> availability,
                             std::span<const Quantity> quantities)
    : profiler_(profiler),
      chip_(std::move(chip)),
      availability_(std::move(availability)),
      quantities_(quantities),
      places_(quantities.size()) {
  const ProfilerHost host = new_host();
  const auto has = [&](const std::string& metric) {
    ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
    params.pHostObject = host.get();
    params.pMetricName = metric.c_str();
    return profiler_.metric_properties(&params) == CUPTI_SUCCESS;
  };
  std::vector<std::size_t> hardware, instrumented;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const std::vector<std::string>& candidates = quantities[i].candidates;
    const auto found = std::find_if(candidates.begin(), candidates.end(), has);
    if (found == candidates.end()) continue;
    places_[i].name = *found;
    (found->find("_sass_") == std::string::npos ? hardware : instrumented).push_back(i);
  }
  share_out(false, std::move(hardware));
  share_out(true, std::move(instrumented));
}

ProfilerHost CounterGroups::new_host() const {
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  profiler_.check(profiler_.host_initialize(&params), "preparing the counters of this chip");
  return {params.pHostObject, ReleaseHost{&profiler_}};
}

bool CounterGroups::configure(CounterGroup& group, std::vector<std::string> names) const {
  ProfilerHost host = new_host();  // what is added to one stays there
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host.get();
  add.ppMetricNames = pointers.data();
  add.numMetrics = pointers.size();
  if (profiler_.add_metrics(&add) != CUPTI_SUCCESS) return false;
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host.get();
  profiler_.check(profiler_.config_size(&size), "planning the counters");
  std::vector<std::uint8_t> config(size.configImageSize);
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host.get();
  image.configImageSize = config.size();
  image.pConfigImage = config.data();
  profiler_.check(profiler_.config_image(&image), "planning the counters");
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config.size();
  passes.pConfigImage = config.data();
  profiler_.check(profiler_.passes(&passes), "planning the counters");
  if (passes.numOfPasses != 1) return false;
  group.names = std::move(names);
  group.host = std::move(host);
  group.config = std::move(config);
  return true;
}

/// Adds what fits, in order, and returns the rest. Halves that fit as a whole are not tried one by one.
std::vector<std::size_t> CounterGroups::fill(CounterGroup& group, std::span<const std::size_t> quantities) {
  std::vector<std::string> names = group.names;
  for (const std::size_t quantity : quantities) names.push_back(places_[quantity].name);
  if (configure(group, std::move(names))) {
    for (const std::size_t quantity : quantities) {
      places_[quantity].group = static_cast<std::uint32_t>(&group - groups_.data());
      places_[quantity].index = static_cast<std::uint32_t>(group.scales.size());
      group.scales.push_back(quantities_[quantity].scale);
    }
    return {};
  }
  if (quantities.size() == 1) return {quantities.front()};
  const std::size_t half = quantities.size() / 2;
  std::vector<std::size_t> rest = fill(group, quantities.first(half));
  const std::vector<std::size_t> more = fill(group, quantities.subspan(half));
  rest.insert(rest.end(), more.begin(), more.end());
  return rest;
}

void CounterGroups::share_out(bool instrumented, std::vector<std::size_t> quantities) {
  while (!quantities.empty()) {
    groups_.emplace_back().instrumented = instrumented;
    quantities = fill(groups_.back(), quantities);
    if (!groups_.back().names.empty()) continue;
    // More than a pass, each of them alone.
    for (const std::size_t quantity : quantities) places_[quantity].name.clear();
    groups_.pop_back();
    return;
  }
}

std::vector<double> CounterGroups::evaluate(const CounterGroup& group, std::span<const std::uint8_t> data,
                                            std::size_t range) const {
  std::vector<const char*> names = group.name_pointers();
  std::vector<double> values(names.size());
  ROOFLINE_PROFILER_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = group.host.get();
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  profiler_.check(profiler_.evaluate(&params), "reading the counters");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= group.scales[i];
  return values;
}

}  // namespace roofline::inject
