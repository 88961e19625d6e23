// What several commands begin with: the choice of a device, said in one line, and its calibration.
#pragma once

#include <string>

#include "calibrate/measuring_lock.hpp"
#include "calibrate/select_device.hpp"
#include "cli/options.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Selects the device and says which it is and why, on stderr.
SelectedDevice choose_device(const DeviceRequest& request);

/// To be held over a calibration. While another process calibrates that device, this waits, until an interrupt, or says
/// that it does not, if it is not to `wait`.
struct DeviceHold {
  MeasuringLock lock;
  bool waited = false;
};
DeviceHold hold_device(const DeviceInfo& device, bool wait = true);

/// Calibrates with a progress line on stderr.
Machine calibrate_with_progress(const DeviceChoice& device, const Effort& effort, const std::string& only);

/// The machine to analyze on: from `file`, else the one kept, else calibrated now. What a reader must know
/// of it ("12 days old", "the driver has changed since") is said on stderr and added to `notes`.
Machine machine_for(const SelectedDevice& device, const std::string& file, std::vector<std::string>& notes);

}  // namespace roofline
