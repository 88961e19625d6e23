#include "cli/suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/find.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// What to do about a name that no suite has.
std::string suite_hint(const std::string& given, const std::vector<KnownSuite>& known) {
  std::vector<std::string> names;
  for (const KnownSuite& one : known) names.push_back(one.name);
  const std::string near = nearest_name(given, names);
  return near.empty() ? fmt::format("suites: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near);
}

}  // namespace

std::vector<fs::path> suite_folders(const fs::path& program) {
  const fs::path folder = program.parent_path();
  std::vector<fs::path> folders = {folder.parent_path() / "share/roofline/configs"};
  const fs::path tree = folder.parent_path().parent_path();  // build/local/roofline
  std::error_code hidden;
  if (fs::exists(folder / "CMakeCache.txt", hidden) && fs::exists(tree / "CMakePresets.json", hidden)) {
    folders.push_back(tree / "configs");
  }
  return folders;
}

std::vector<KnownSuite> known_suites(const std::vector<fs::path>& folders) {
  std::vector<KnownSuite> suites;
  std::error_code hidden;
  for (const fs::path& folder : folders) {
    for (const fs::path& below : {folder, folder / "examples"}) {
      for (const fs::directory_entry& entry : fs::directory_iterator(below, hidden)) {
        if (entry.path().extension() != ".yaml") continue;
        const fs::path name = below == folder ? entry.path().stem() : "examples" / entry.path().stem();
        suites.push_back({name.string(), entry.path()});
      }
    }
    if (!suites.empty()) break;
  }
  std::sort(suites.begin(), suites.end(), [](const KnownSuite& a, const KnownSuite& b) { return a.name < b.name; });
  return suites;
}

KnownSuite find_suite(const std::string& given, const std::vector<KnownSuite>& known) {
  std::error_code hidden;
  const KnownSuite* const named = find_by(known, &KnownSuite::name, given);
  const bool is_file = fs::exists(given, hidden) && !fs::is_directory(given, hidden);
  if (named != nullptr && !is_file) return *named;
  const bool may_be_name = given.find_first_of("/.") == std::string::npos;
  if (is_file || !may_be_name) return {given, given};
  throw UsageError(fmt::format("there is no file '{}', and no suite of that name", given), suite_hint(given, known));
}

Suite load_for(DeviceKind device, const std::string& name, const std::string& only, std::optional<CacheMode> cache) {
  const KnownSuite found = find_suite(name, own_suites());
  Suite suite = found.text.empty() ? load_suite(found.path.string(), device)
                                   : parse_suite(std::string(found.text), found.path.string(), device);
  if (only != "*") keep_only(suite, only);
  for (SuiteEntry& entry : suite.entries) {
    if (cache) entry.workload.cache = *cache;
  }
  return suite;
}

std::vector<KnownSuite> own_suites() {
  std::error_code hidden;
  std::vector<KnownSuite> installed = known_suites(suite_folders(fs::read_symlink("/proc/self/exe", hidden)));
  return installed.empty() ? embedded_suites() : installed;
}

}  // namespace roofline
