// A folder that no other user can read or write: files in it are loaded and trusted.
#pragma once

#include <filesystem>

namespace roofline {

/// Made among the temporary files, removed with all that is in it at the end. Throws UsageError where there is no place
/// for one.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  /// Absolute.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Throws UsageError unless it is a folder of this user that others may neither read nor change, in a folder where they
/// can't put another in its place.
void require_private(const std::filesystem::path& folder);

}  // namespace roofline
