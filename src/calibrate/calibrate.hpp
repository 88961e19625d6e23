// Calibration: which probes make which ceilings, run in isolation, audited, gathered into a Machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/sampling_plan.hpp"
#include "device/device.hpp"
#include "model/machine.hpp"
#include "model/work.hpp"

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
  std::optional<double> left_s = std::nullopt;  ///< expected time left, where it is better known than by counting
};

struct CalibrateOptions {
  DeviceChoice device;
  Effort effort;
  std::string only = "*";  ///< glob over the names of ceilings and sweeps
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// One probe that was run once, for a profiler to count.
struct SingleRun {
  std::string name;
  std::string variant;  ///< the probe's first
  std::string instruction;
  double amount = 0;  ///< of the launch, as ceilings count it
  Work work;
  std::string failure;  ///< why it could not be run, or computed the wrong thing; empty when it did right
};

/// Runs the first variant of every chosen probe once, verified but not timed, between the marks that
/// Device::run_profiled sets. Runs in this process, so that a profiler sees one.
std::vector<SingleRun> run_once(const CalibrateOptions& options);

/// Measures the device's ceilings. A probe that fails, even one that kills its process, becomes an entry
/// of Machine::unmeasured. Ends early, with `cancelled`, at an interrupt. Throws DeviceError when the
/// device can't be opened, UsageError when `only` matches no ceiling.
Machine calibrate(const CalibrateOptions& options);

}  // namespace roofline
