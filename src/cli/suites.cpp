#include "cli/suites.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.hpp"
#include "model/find.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> own_folders() {
  std::error_code hidden;
  return suite_folders(fs::read_symlink("/proc/self/exe", hidden));
}

/// What to do about a name that no installed suite has.
std::string suite_hint(const std::string& given, const std::vector<KnownSuite>& known,
                       const std::vector<fs::path>& folders) {
  if (known.empty()) {
    const fs::path& folder = folders.front();  // …/share/roofline/configs
    return fmt::format(
        "no suites in {}: copy share/roofline of a release to {}, or pass a file (configs/ops.yaml of the source)",
        folder.string(), folder.parent_path().parent_path().string());
  }
  std::vector<std::string> names;
  for (const KnownSuite& one : known) names.push_back(one.name);
  const std::string near = nearest_name(given, names);
  return near.empty() ? fmt::format("installed suites: {}", fmt::join(names, ", "))
                      : fmt::format("did you mean '{}'?", near);
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

std::string find_suite(const std::string& given, const std::vector<KnownSuite>& known,
                       const std::vector<fs::path>& folders) {
  std::error_code hidden;
  const KnownSuite* const named = find_by(known, &KnownSuite::name, given);
  const bool is_file = fs::exists(given, hidden) && !fs::is_directory(given, hidden);
  if (named != nullptr && !is_file) return named->path.string();
  const bool may_be_name = given.find_first_of("/.") == std::string::npos;
  if (is_file || !may_be_name) return given;
  throw UsageError(fmt::format("there is no file '{}', and no suite of that name", given),
                   suite_hint(given, known, folders));
}

Suite load_for(DeviceKind device, const std::string& name, const std::string& only, std::optional<CacheMode> cache) {
  Suite suite = load_suite(find_suite(name, own_suites(), own_folders()), device);
  if (only != "*") keep_only(suite, only);
  for (SuiteEntry& entry : suite.entries) {
    if (cache) entry.workload.cache = *cache;
  }
  return suite;
}

std::vector<KnownSuite> own_suites() { return known_suites(own_folders()); }

}  // namespace roofline
