// Two readings of a device's sensors → a sample: sums become rates, rates shares of the measured roofs. Pure.
#pragma once

#include <optional>
#include <string>

#include "device/cpu/host_sensors.hpp"
#include "device/gpu_sensors.hpp"
#include "model/machine.hpp"
#include "monitor/byte_check.hpp"
#include "monitor/sample.hpp"

namespace roofline {

/// A watched device and the ceilings that it is compared with.
struct Watched {
  std::string device;  ///< "cuda:0", "cpu"
  DeviceInfo info;
  std::string pci, uuid;
  std::optional<Machine> roofs;
  std::optional<ByteCheck> bytes;  ///< GPUs: result of the check of counted bytes
};

/// Increase of a counter; std::nullopt if it was reset in between.
std::optional<double> advance(const WrappingCounter& before, const WrappingCounter& now);

/// `before` is null without an earlier reading: then there are no rates.
DeviceSample gpu_sample(const Watched& watched, const GpuReading* before, const GpuReading& now);
DeviceSample cpu_sample(const Watched& watched, const HostReading* before, const HostReading& now);

/// Sample of a device that gave no reading.
DeviceSample silent_sample(const Watched& watched, const std::string& reason);

}  // namespace roofline
