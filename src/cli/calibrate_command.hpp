// What the calibration of one device and that of a node have in common on the command line.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Keeps a calibration in the cache, and says so or why not. Whether it went well: what was measured is shown and
/// written elsewhere all the same.
bool keep_calibration(const Machine& machine, const CalibrateCommand& command);

/// A folder has room for the files of many machines.
bool names_folder(const std::string& output);

/// Of several devices, or all of them.
ExitCode run_calibrate_node(const CalibrateCommand& command, const Options& options);

}  // namespace roofline
