// One sample of `roofline monitor`: physical figures, and their shares of the measured
// roofs. Plain data; every output is made of it.
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

/// All of them, in the order in which they are written.
std::span<const Quantity> quantities();

/// How near something came to what this device was measured to do.
struct RoofShare {
  std::string resource;  ///< "dram", "tensor", "pcie_rx", …
  std::string roof;      ///< the ceiling's label
  double per_s = 0;      ///< byte/s or FLOP/s now
  double roof_per_s = 0;
  std::string basis;  ///< what `per_s` is made of, where it is no count: "at most, if all of it is bf16"
  double share() const { return per_s / roof_per_s; }
};

struct DeviceSample {
  std::string device;  ///< "cuda:0", "cpu"
  DeviceKind kind = DeviceKind::cpu;
  std::string name, uuid, pci;
  double seconds = 0;                                      ///< that rates are means of; 0: there are none yet
  std::map<std::string, double, std::less<>> values;       ///< by their quantities' names
  std::map<std::string, std::string, std::less<>> absent;  ///< the same names, and "device", "roofs", "processes"
  std::vector<RoofShare> roofs;
  std::string roofs_measured_at;                       ///< empty: there is no calibration
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
