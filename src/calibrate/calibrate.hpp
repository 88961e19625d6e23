// Calibration: which probes make which ceilings, run in isolation, audited, gathered into a Machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "device/device.hpp"
#include "model/machine.hpp"

namespace roofline {

/// The device that a command works on.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  DeviceOptions options;
};

/// One step of long work, for whoever shows progress.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::string current;
};

struct CalibrateOptions {
  DeviceChoice device;
  bool quick = false;
  std::string only = "*";  ///< glob over ceiling names
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// Measures the device's ceilings. A probe that fails, even one that kills its process, becomes an entry
/// of Machine::unmeasured. Ends early, with `cancelled`, at an interrupt. Throws DeviceError when the
/// device can't be opened, UsageError when `only` matches no ceiling.
Machine calibrate(const CalibrateOptions& options);

}  // namespace roofline
