// Files for the import's readers: in a folder of their own, and those that were recorded.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "import/import.hpp"
#include "model/error.hpp"

namespace roofline {

/// A file with this text, which is gone with it.
class TemporaryFile {
 public:
  TemporaryFile(std::string_view name, std::string_view text)
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("roofline-import-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))),
        path_(folder_ / name) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

inline ImportedProfile import_text(std::string_view name, std::string_view text) {
  return read_profile_file(TemporaryFile(name, text).path());
}

/// What the reader says of a file that is broken; empty where it takes it.
inline std::string refusal_of(std::string_view name, std::string_view text) {
  try {
    import_text(name, text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline std::filesystem::path recorded(std::string_view name) {
  return std::filesystem::path(ROOFLINE_SOURCE_DIR) / "tests" / "import" / "recorded" / name;
}

/// The first row of that operator or kernel; fails the test where there is none.
inline const Point& row_named(const Report& report, std::string_view part) {
  for (const Point& point : report.points) {
    if (point.profiled->operation.find(part) != std::string::npos ||
        point.profiled->full_name.find(part) != std::string::npos) {
      return point;
    }
  }
  ADD_FAILURE() << "no row of " << part;
  return report.points.at(0);
}

inline Report report_of_files(std::initializer_list<std::filesystem::path> files, std::vector<std::string>& joined,
                              const Machine& machine = {}) {
  std::vector<ImportedProfile> profiles;
  for (const auto& file : files) profiles.push_back(read_profile_file(file));
  return report_of_imports(std::move(profiles), {.machine = machine}, {"roofline", "import"}, joined);
}

inline Report report_of_file(const std::filesystem::path& file, const Machine& machine = {}) {
  std::vector<std::string> joined;
  return report_of_files({file}, joined, machine);
}

}  // namespace roofline
