// The named quantities of the diagnosis: measured, modelled and counted values of a point, each absent where it is not
// known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/counters.hpp"
#include "report/report.hpp"

namespace roofline {

/// How a quantity is written: 0.31 as "31 %", "0.31×", "0.31", "0.31 GHz", "0.31 GB/s", …; a flag is 0 or 1 and is
/// never written. A pipe and a level are the numbers of their names: "FP32 pipe", "shared memory".
enum class QuantityUnit : std::uint8_t {
  fraction,
  factor,
  number,
  hertz,
  bytes,
  bandwidth,
  seconds,
  flag,
  pipe,
  level
};

struct QuantitySpec {
  std::string_view name;   ///< its id in files
  std::string_view label;  ///< for people, before its value: "L2 hit rate"; empty where it only serves a condition
  QuantityUnit unit;
  std::string_view meaning;
};

/// The vocabulary; null for a name that is none of it.
const QuantitySpec* find_quantity(std::string_view name);

using Quantities = std::map<std::string, double, std::less<>>;

/// Every quantity that is known of a timed point. `counters` may be null.
Quantities quantities_of(const Point& point, const Machine& machine, const Counters* counters);

/// As text, in its unit.
std::string quantity_text(std::string_view name, double value);

/// "24.1 %". Warps and cycles can be counted in different passes, so that all slots may come out as 101 %: "full".
std::string occupancy_text(double share);

/// For several rows: "1.36–1.75 GHz", "71.7–84.5 %"; a single value where both ends print the same.
std::string quantity_range_text(std::string_view name, double low, double high);

}  // namespace roofline
