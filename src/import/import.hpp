// Files of other tools → report, with the same rows, sums and savings as `roofline profile`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/imported.hpp"
#include "model/machine.hpp"
#include "report/report.hpp"

namespace roofline {

/// Reads a file of any known format, recognised by its content, or a folder of rocprof-compute. Throws UsageError with
/// the position in the file.
ImportedProfile read_profile_file(const std::filesystem::path& file);

/// The tool and kind of a file, or a folder of rocprof-compute, that can be imported; empty of runs of roofline,
/// damaged ones, and of pipes. Reads its first bytes only. Throws UsageError with the next step for a known file that
/// is not imported.
std::string_view recorded_by(const std::filesystem::path& file);

/// The GPU that most of their kernels' time was spent on.
DeviceFacts device_of(const std::vector<ImportedProfile>& profiles);

/// The roofs that the tool of one of them measured on the same device; null without any.
const Machine* roofs_in(const std::vector<ImportedProfile>& profiles);

/// The other GPU models with a name that they ran on.
std::vector<DeviceFacts> other_models(const std::vector<ImportedProfile>& profiles, const std::string& name);

/// Whose roofs the kernels are placed under.
struct ImportRoofs {
  Machine machine;                   ///< of most kernels' time
  std::vector<Machine> others = {};  ///< of other GPU models
};

/// Their report. Files with counters are joined with the others; `joined` gets one sentence per result. Throws
/// UsageError where no file has any activity of a GPU.
Report report_of_imports(std::vector<ImportedProfile> profiles, const ImportRoofs& roofs,
                         const std::vector<std::string>& command, std::vector<std::string>& joined);

}  // namespace roofline
