// One sample of `roofline monitor`: physical quantities, and their shares of the measured roofs. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/gpu_sensors.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Unit of a figure, for output to people.
enum class Measure : std::uint8_t { fraction, hertz, watts, joules, celsius, bytes, bytes_per_s, count };

/// A figure that is monitored. Its name is that of the JSON's field, and behind "roofline_monitor_" of the metric.
struct Quantity {
  std::string_view name;
  Measure measure = Measure::count;
  std::string_view help;
  bool counter = false;  ///< only ever grows
};

/// All quantities in output order.
std::span<const Quantity> quantities();

/// Share of a measured roof.
struct RoofShare {
  std::string resource;  ///< "dram", "tensor", "pcie_rx", …
  std::string roof;      ///< the ceiling's label
  double per_s = 0;      ///< byte/s or FLOP/s now
  double roof_per_s = 0;
  std::string basis;  ///< how `per_s` was derived if it is not a count: "at most, if all of it is bf16"
  double share() const { return per_s / roof_per_s; }
};

struct DeviceSample {
  std::string device;  ///< "cuda:0", "cpu"
  DeviceKind kind = DeviceKind::cpu;
  std::string name, uuid, pci;
  double seconds = 0;                                 ///< time over which rates are means; 0: none yet
  std::map<std::string, double, std::less<>> values;  ///< by quantity name
  std::map<std::string, std::string, std::less<>>
      absent;  ///< reasons by quantity name, and for "device", "roofs", "processes"
  std::vector<RoofShare> roofs;
  std::string roofs_measured_at;                       ///< empty: not calibrated
  std::optional<std::vector<std::string>> limited_by;  ///< what holds the clock down now
  std::optional<std::vector<GpuProcess>> processes;
  std::vector<std::string> notes;  ///< what must be known to understand it

  std::optional<double> find(std::string_view quantity) const;
};

struct Sample {
  std::string time;  ///< UTC
  std::string host;
  double interval_s = 0;
  std::vector<DeviceSample> devices;
};

}  // namespace roofline
