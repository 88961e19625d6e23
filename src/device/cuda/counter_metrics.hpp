// The hardware counters to read, with their names on each chip. Data only.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "device/counter_reader.hpp"

namespace roofline {

/// One quantity, and the names that a chip may have for it, best first.
struct CounterMetric {
  std::string_view id;  ///< key of Counters::values
  CounterSet set = CounterSet::standard;
  std::array<std::string_view, 4> candidates = {};
  double scale = 1;  ///< from the metric's unit to the id's
};

std::span<const CounterMetric> counter_metrics();

}  // namespace roofline
