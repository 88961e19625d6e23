// Selects the device of a command in a child process, so that the parent never loads a driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "device/device.hpp"

namespace roofline {

/// Properties of an opened device that the parent needs.
struct SelectedDevice {
  DeviceChoice choice;
  DeviceInfo info;
  double free_memory_bytes = 0;
  double last_level_cache_bytes = 0;
  std::string why;  /// "first usable CUDA GPU", "as requested", or why no GPU was selected
};

/// `kind` empty: the first usable CUDA GPU, otherwise the CPU. Throws DeviceError with the reason, UsageError if
/// the options request threads or CPUs that this process may not use.
SelectedDevice select_device(std::optional<DeviceKind> kind, int index, const DeviceOptions& options);

/// list_devices(), also in a child process.
std::vector<DeviceListing> list_devices_isolated(const DeviceOptions& options);

}  // namespace roofline
