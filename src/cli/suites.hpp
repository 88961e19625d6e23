// Suites by their names: those that came with the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofline {

struct KnownSuite {
  std::string name;  ///< "ops", "examples/saxpy"
  std::filesystem::path path;
};

/// Where suites are that belong to a program which lies there: installed beside it (../share/roofline/configs), or in
/// the source tree that it was built in. Never the working folder: a suite may bring kernels, and those are code.
std::vector<std::filesystem::path> suite_folders(const std::filesystem::path& program);

/// Those of the first folder that is there, by name.
std::vector<KnownSuite> known_suites(const std::vector<std::filesystem::path>& folders);

/// A file as it was given, or the suite of that name. Throws UsageError, with the nearest name, where there is neither.
std::string find_suite(const std::string& given, const std::vector<KnownSuite>& known);

/// Of this program.
std::vector<KnownSuite> own_suites();

}  // namespace roofline
