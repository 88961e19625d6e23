// Common first steps of commands: selecting a device and finding its calibration.
#pragma once

#include <string>

#include "calibrate/calibrate.hpp"
#include "calibrate/measuring_lock.hpp"
#include "calibrate/select_device.hpp"
#include "cli/device_flags.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Selects the device and prints the choice and its reason to stderr.
SelectedDevice choose_device(const DeviceRequest& request);

/// A lock to hold during a calibration. If another process is calibrating the device, waits for it or an interrupt;
/// without `wait`, prints a note instead.
struct DeviceHold {
  MeasuringLock lock;
  bool waited = false;
};
DeviceHold hold_device(const DeviceInfo& device, bool wait = true);

/// Calibrates with a progress line on stderr.
Machine calibrate_with_progress(CalibrateOptions options);

/// The calibration to use: from `file`, else the stored one, else measured now. What affects how to read the report
/// ("12 days old", "the driver has changed since") is printed to stderr and added to `notes`.
Machine machine_for(const SelectedDevice& device, const std::string& file, std::vector<std::string>& notes);

/// A calibration or report file (of a node the first device), or a GPU by the name of its data sheet ("H100"). `option`
/// is what named it.
Machine named_machine(const std::string& name, const std::string& option);

}  // namespace roofline
