// Files of other tools as a run: what `roofline import` makes of them.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// A report of files of other tools, and what a command says of it.
struct ImportedRun {
  Report report;
  std::vector<std::string> about_roofs;  ///< where they are from; these are also notes of the report
  std::vector<std::string> joined;       ///< results of joining files with counters; also notes of the report
};

/// Reads the files of one run and places its kernels under the roofs: those of the calibration files `machines`, else
/// those in the files, else the stored ones, else data-sheet limits. Prints progress of large files. Throws UsageError
/// with the position in the file.
ImportedRun import_run(const std::vector<std::string>& files, const std::vector<std::string>& machines,
                       const std::vector<std::string>& command);

}  // namespace roofline
