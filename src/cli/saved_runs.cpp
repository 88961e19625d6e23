#include "cli/saved_runs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "import/import.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace fs = std::filesystem;

void require_no_profile(const std::string& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return;
  const std::string_view tool = recorded_by(file);
  if (tool.empty()) return;
  const std::string name = fs::path(file).filename().string();
  throw UsageError(fmt::format("{}: a profile by {}, not a report of roofline", file, tool),
                   fmt::format("roofline import {0} -o reports/{1}, then use reports/{1}/report.json", file,
                               name.substr(0, name.find('.', 1))));
}

std::string run_file(const std::string& given) {
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return given;
  for (const char* name : {"report.json", "node.json"}) {
    if (const fs::path file = fs::path(given) / name; fs::exists(file, ignored)) return file.string();
  }
  throw UsageError(fmt::format("{}: is a folder without a report.json", given),
                   "pass the report.json of a run, or the folder that holds it");
}

Report read_run(const std::string& given) {
  const std::string file = run_file(given);
  require_no_profile(file);
  return parse_report(read_file(file, kReportLimit), file);
}

}  // namespace roofline
