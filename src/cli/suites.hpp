// Suites that are used by name: installed, or embedded in the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/suite.hpp"

namespace roofline {

struct KnownSuite {
  std::string name;            ///< "ops", "examples/saxpy"
  std::filesystem::path path;  ///< its name, if it is embedded
  std::string_view text = {};  ///< empty: read the file
};

/// Directories of the suites of a program at that path: installed (../share/roofline/configs), or the source tree that
/// it was built in. Never the working directory, because suites can contain code.
std::vector<std::filesystem::path> suite_folders(const std::filesystem::path& program);

/// The suites of the first directory that exists, sorted by name.
std::vector<KnownSuite> known_suites(const std::vector<std::filesystem::path>& folders);

/// The suites of configs/ that bring no kernels.
std::vector<KnownSuite> embedded_suites();

/// A file as given, or the suite of that name. Throws UsageError with the nearest name if neither exists.
KnownSuite find_suite(const std::string& given, const std::vector<KnownSuite>& known);

/// The installed suites of this program; the embedded ones if there are none.
std::vector<KnownSuite> own_suites();

/// The suite of that name or file for a kind of device: the workloads that match the glob `only`, with that cache mode
/// instead of their own.
Suite load_for(DeviceKind device, const std::string& name, const std::string& only, std::optional<CacheMode> cache);

}  // namespace roofline
