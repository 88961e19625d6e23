// Shared by the calibration of one device and that of a node.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "calibrate/calibrate.hpp"
#include "cli/device_flags.hpp"
#include "model/machine.hpp"

namespace roofline {

struct CalibrateFlags {
  DeviceRequest device;
  CalibrateOptions options;
  bool verbose = false;  ///< print the details of failed audit checks
  bool once = false;     ///< run every probe once, for a profiler, without timing
  bool no_wait = false;  ///< do not wait for another calibration of the same device
  std::string output;    ///< file or directory; "-" for stdout; empty: only the cache
};

/// Stores a calibration in the cache and prints where, or why not. Returns false if that failed; the caller still
/// prints and writes the calibration.
bool keep_calibration(const Machine& machine, const CalibrateFlags& flags);

/// Prints a calibration and writes `file_text` to -o; `name` is its file name if that is a directory.
void show_calibration(const CalibrateFlags& flags, const nlohmann::ordered_json& document,
                      const std::function<std::string()>& text, const std::string& file_text, const std::string& name);

/// Calibrates several devices, or all of them.
ExitCode run_calibrate_node(const CalibrateFlags& flags, const GlobalOptions& global);

}  // namespace roofline
