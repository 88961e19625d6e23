// Files of other tools → report: the same rows, sums and wins as of `roofline profile`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/imported.hpp"
#include "model/machine.hpp"
#include "report/report.hpp"

namespace roofline {

/// Reads a file of any of the formats, which it finds out by what is in it. Throws UsageError, with the place in the
/// file.
ImportedProfile read_profile_file(const std::filesystem::path& file);

/// The GPU that most of their kernels' time was spent on.
DeviceFacts device_of(const std::vector<ImportedProfile>& profiles);

/// Their report. Files of counters are joined with the others; what was matched is in `joined`, a sentence each.
Report report_of_imports(std::vector<ImportedProfile> profiles, const Machine& machine,
                         const std::vector<std::string>& command, std::vector<std::string>& joined);

}  // namespace roofline
