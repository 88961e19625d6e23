// Which device a command works on, found out in a child process: the parent stays free of any driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "device/device.hpp"

namespace roofline {

/// An opened device, as far as the parent needs to know it.
struct SelectedDevice {
  DeviceChoice choice;
  DeviceInfo info;
  double free_memory_bytes = 0;
  double last_level_cache_bytes = 0;
  std::string why;  ///< "the first CUDA GPU that works", "no usable GPU: …", "asked for"
};

/// `kind` empty: the first CUDA GPU that works, else the CPU. Throws DeviceError with the reason,
/// UsageError when the options ask for threads or CPUs that this process may not use.
SelectedDevice select_device(std::optional<DeviceKind> kind, int index, const DeviceOptions& options);

/// list_devices(), likewise from a child process.
std::vector<DeviceListing> list_devices_isolated(const DeviceOptions& options);

}  // namespace roofline
