// Installed suites, which are used by name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/suite.hpp"

namespace roofline {

struct KnownSuite {
  std::string name;  ///< "ops", "examples/saxpy"
  std::filesystem::path path;
};

/// Directories of the suites of a program at that path: installed (../share/roofline/configs), or the source tree that
/// it was built in. Never the working directory, because suites can contain code.
std::vector<std::filesystem::path> suite_folders(const std::filesystem::path& program);

/// The suites of the first directory that exists, sorted by name.
std::vector<KnownSuite> known_suites(const std::vector<std::filesystem::path>& folders);

/// A file as given, or the suite of that name. Throws UsageError if neither exists: with the nearest name, or if no
/// suite is installed with `folders`, where they were looked up.
std::string find_suite(const std::string& given, const std::vector<KnownSuite>& known,
                       const std::vector<std::filesystem::path>& folders);

/// The installed suites of this program.
std::vector<KnownSuite> own_suites();

/// The suite of that name or file for a kind of device: the workloads that match the glob `only`, with that cache mode
/// instead of their own.
Suite load_for(DeviceKind device, const std::string& name, const std::string& only, std::optional<CacheMode> cache);

}  // namespace roofline
