// A folder that no other user can read or write: files in it are loaded and trusted.
#pragma once

#include <filesystem>
#include <string>

namespace roofline {

/// A private folder for temporary files, removed with its contents at the end. Throws UsageError if none can be
/// created.
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

/// The first part of the path, with its fault, by which another user could replace what lies in the folder; empty if
/// there is none. Every folder from the root, and every link and its target, must belong to this user or root, and no
/// other user may have write access unless it is sticky. The last folder may be sticky too: others can add files to it.
std::string replaceable_by_others(const std::filesystem::path& folder);

/// Throws UsageError unless it is a folder of this user that others may neither read nor change, and that they can't
/// replace (replaceable_by_others()).
void require_private(const std::filesystem::path& folder);

}  // namespace roofline
