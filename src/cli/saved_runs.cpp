#include "cli/saved_runs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/console.hpp"
#include "cli/imported_run.hpp"
#include "host/file_limits.hpp"
#include "host/files.hpp"
#include "import/import.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// The run's file in a folder; empty without one.
std::string file_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"report.json", "node.json"}) {
    if (const fs::path file = folder / name; fs::exists(file, ignored)) return file.string();
  }
  return {};
}

}  // namespace

void require_no_profile(const std::string& file) {
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
  if (std::string file = file_in(given); !file.empty()) return file;
  throw UsageError(fmt::format("{}: is a folder without a report.json", given),
                   "pass the report.json of a run, or the folder that holds it");
}

Report read_run(const std::string& given) {
  const std::string file = run_file(given);
  require_no_profile(file);
  return parse_report(read_file(file, kReportLimit), file);
}

Report read_run_or_profile(const std::string& given, const std::vector<std::string>& command) {
  const bool is_run = !file_in(given).empty();  // a folder of rocprof-compute may hold the report of its import
  if (is_run || recorded_by(given).empty()) return read_run(given);
  ImportedRun imported = import_run({given}, {}, command);
  for (const std::string& note : imported.report.notes) warn(note);
  return std::move(imported.report);
}

}  // namespace roofline
