// Calibration: runs probes in isolation, audits their ceilings, and assembles a Machine.
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

/// The device of a command.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  DeviceOptions options;
};

/// Progress of a long operation.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::string current;
  std::optional<double> left_s = std::nullopt;  /// expected time left, if it is known better than by counting
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
  std::string failure;  /// why it could not run, or that its result is wrong; empty on success
};

/// Runs the first variant of every selected probe once, verified but not timed, between the marks of
/// Device::run_profiled. Runs in this process, so that a profiler sees one process.
std::vector<SingleRun> run_once(const CalibrateOptions& options);

/// Measures the device's ceilings. A probe that fails, even one that kills its process, becomes an entry of
/// Machine::unmeasured. Ends early, with `cancelled`, at an interrupt. Throws DeviceError if the device cannot be
/// opened, UsageError if `only` matches no ceiling.
Machine calibrate(const CalibrateOptions& options);

}  // namespace roofline
