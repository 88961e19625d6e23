// Files that a caller may name: those below the working folder and the folders that the user allows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofline {

class AllowedPaths {
 public:
  /// Throws UsageError for an allowed path that does not exist.
  AllowedPaths(const std::filesystem::path& working_folder, const std::vector<std::string>& allowed);

  /// The absolute path without symbolic links; it need not exist. Throws UsageError if it is outside the allowed
  /// folders.
  std::filesystem::path resolve(const std::string& given) const;

  const std::filesystem::path& working_folder() const { return roots_.front(); }

 private:
  std::vector<std::filesystem::path> roots_;  ///< without symbolic links; the first is the working folder
};

}  // namespace roofline
