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

CounterGroups::CounterGroups(const CuptiProfiler& profiler, std::string chip, std::vector<std::uint8_t> availability,
                             std::span<const Quantity> quantities)
    : profiler_(profiler),
      chip_(std::move(chip)),
      availability_(std::move(availability)),
      quantities_(quantities),
      places_(quantities.size()) {
  const std::unique_ptr<CuptiHost> host = new_host();
  const auto has = [&](const std::string& metric) { return host->has(metric); };
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

std::unique_ptr<CuptiHost> CounterGroups::new_host() const {
  return std::make_unique<CuptiHost>(profiler_, CUPTI_PROFILER_TYPE_RANGE_PROFILER, chip_, availability_);
}

bool CounterGroups::configure(CounterGroup& group, std::vector<std::string> names) const {
  std::unique_ptr<CuptiHost> host = new_host();  // metrics can't be removed from a host object
  std::optional<std::vector<std::uint8_t>> config = host->one_pass(c_strings(names));
  if (!config) return false;
  group.names = std::move(names);
  group.host = std::move(host);
  group.config = std::move(*config);
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
  std::vector<double> values = group.host->evaluate(c_strings(group.names), data, range);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= group.scales[i];
  return values;
}

}  // namespace roofline::inject
