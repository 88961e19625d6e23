// Named quantities of the diagnosis: measured, modelled and counted values of a point. Unknown values are absent.
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
/// never written. A pipe and a level are the numbers of their names: "FP32 pipe", "shared memory". So is a GPU's
/// vendor, which names the units of its GPUs: "SM", "compute units"; and a tool that fuses kernels: "torch.compile".
enum class QuantityUnit : std::uint8_t {
  fraction,
  factor,
  number,
  hertz,
  bytes,
  few_bytes,  ///< of one access: "1 byte", "7.9 bytes"
  bandwidth,
  seconds,
  flag,
  pipe,
  level,
  gpu_unit,
  fusing_tool
};

struct QuantitySpec {
  std::string_view name;   ///< its id in files
  std::string_view label;  ///< display name: "L2 hit rate"; empty if used in conditions only
  QuantityUnit unit;
  std::string_view meaning;
};

/// The specification of a quantity; null for an unknown name.
const QuantitySpec* find_quantity(std::string_view name);

using Quantities = std::map<std::string, double, std::less<>>;

/// All known quantities of a timed point. `counters` may be null.
Quantities quantities_of(const Point& point, const Machine& machine, const Counters* counters);

/// The value as text, with its unit.
std::string quantity_text(std::string_view name, double value);

/// "24.1 %". Shows "full" for 101 %, which can occur because warps and cycles are counted in different passes.
std::string occupancy_text(double share);

/// Range over several rows: "1.36–1.75 GHz", "71.7–84.5 %"; a single value if both ends print the same.
std::string quantity_range_text(std::string_view name, double low, double high);

}  // namespace roofline
