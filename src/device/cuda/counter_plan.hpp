// Which metrics of the table a chip has, and how they fit into passes. Works on a machine with neither GPU nor driver.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cupti/host.hpp"
#include "device/cuda/counter_metrics.hpp"

namespace roofline {

struct PlannedMetric {
  const CounterMetric* metric = nullptr;
  std::string name;  ///< the candidate that this chip has
};

/// CUPTI's view of one chip; evaluates counter data.
class CounterPlan {
 public:
  /// `chip` by CUPTI's name ("GH100"). `availability`: a device's image of the counters that it allows; empty for all
  /// of the chip. Throws Error if CUPTI is missing or doesn't know the chip.
  CounterPlan(const std::string& chip, CounterSet set, std::span<const std::uint8_t> availability = {});

  const std::string& chip() const { return host_.chip(); }
  const std::vector<PlannedMetric>& metrics() const { return metrics_; }
  /// Id → "GA100 has none of: …".
  const std::map<std::string, std::string, std::less<>>& missing() const { return missing_; }
  std::size_t passes() const { return schedule_.passes; }
  std::span<const std::uint8_t> config() const { return schedule_.image; }
  /// The names of metrics(), as CUPTI takes them.
  std::vector<const char*> names() const;
  /// The values, scaled to the table's units, of one range in a counter data image, in the order of metrics().
  std::vector<double> evaluate(std::span<const std::uint8_t> counter_data, std::size_t range) const;

 private:
  void choose(CounterSet set);

  CuptiHost host_;
  std::vector<PlannedMetric> metrics_;
  std::map<std::string, std::string, std::less<>> missing_;
  CuptiHost::Schedule schedule_;
};

}  // namespace roofline
