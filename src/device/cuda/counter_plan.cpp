// Candidates are queried one by one; all that are found go into one configuration.
#include "device/cuda/counter_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/cuda/cupti.hpp"

namespace roofline {

CounterPlan::CounterPlan(const std::string& chip, CounterSet set, std::span<const std::uint8_t> availability)
    : host_(cupti(), CUPTI_PROFILER_TYPE_RANGE_PROFILER, chip, availability) {
  choose(set);
  schedule_ = host_.schedule(names());
}

void CounterPlan::choose(CounterSet set) {
  for (const CounterMetric& metric : counter_metrics()) {
    if (metric.set == CounterSet::full && set != CounterSet::full) continue;
    std::vector<std::string> tried;
    for (const std::string_view candidate : metric.candidates) {
      if (candidate.empty()) break;
      tried.emplace_back(candidate);
      if (!host_.has(tried.back())) continue;
      metrics_.push_back({&metric, tried.back()});
      tried.clear();
      break;
    }
    if (!tried.empty()) missing_[std::string(metric.id)] = fmt::format("{} has no {}", chip(), fmt::join(tried, ", "));
  }
}

std::vector<const char*> CounterPlan::names() const {
  std::vector<const char*> names;
  for (const PlannedMetric& metric : metrics_) names.push_back(metric.name.c_str());
  return names;
}

std::vector<double> CounterPlan::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range) const {
  std::vector<double> values = host_.evaluate(names(), counter_data, range);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= metrics_[i].metric->scale;
  return values;
}

}  // namespace roofline
