#include "host/private_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <sstream>
#include <string>

#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHint = "set TMPDIR to a folder of your own";

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    throw UsageError(fmt::format("{}: {}", path.string(), std::strerror(errno)), kHint);
  return status;
}

/// This user, or root. Where the user namespace does not map the host's root (rootless containers), root's folders show
/// the overflow uid, and so do those of every other unmapped user.
bool is_trusted_owner(uid_t owner) {
  if (owner == ::geteuid() || owner == 0) return true;
  static const std::optional<uid_t> overflow_owner = [] {
    std::optional<uid_t> number;
    std::istringstream map(text_of("/proc/self/uid_map"));
    bool root_is_mapped = false, any = false;
    for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count; any = true)
      root_is_mapped = root_is_mapped || (outside == 0 && count > 0);
    if (any && !root_is_mapped) {
      if (const auto overflow = number_in("/proc/sys/kernel/overflowuid")) number = static_cast<uid_t>(*overflow);
    }
    return number;
  }();
  return overflow_owner == owner;
}

/// As std::filesystem::temp_directory_path() looks for it, but named where it is missing.
fs::path temporary_place() {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* place = std::getenv(variable);
    if (place != nullptr && *place != '\0') return place;
  }
  return "/tmp";
}

}  // namespace

void require_private(const fs::path& folder) {
  const struct stat own = status_of(folder);
  if (!S_ISDIR(own.st_mode)) throw UsageError(fmt::format("{}: is not a folder", folder.string()), kHint);
  if (own.st_uid != ::geteuid()) throw UsageError(fmt::format("{}: belongs to another user", folder.string()), kHint);
  if ((own.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw UsageError(fmt::format("{}: other users have access to it", folder.string()), kHint);
  if (const std::string reason = replaceable_by_others(folder); !reason.empty()) throw UsageError(reason, kHint);
}

std::string replaceable_by_others(const fs::path& folder) {
  constexpr int kMostLinks = 40;  // as the system follows
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error);
  if (error) return fmt::format("{}: {}", folder.string(), error.message());
  std::deque<fs::path> rest(whole.begin(), whole.end());
  fs::path at;  // without links, but for its last part
  int links = 0;
  while (!rest.empty()) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    at /= part;
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) return fmt::format("{}: {}", at.string(), std::strerror(errno));
    if (!is_trusted_owner(status.st_uid))
      return fmt::format("{}: belongs to another user, other users can replace its contents", at.string());
    if (S_ISLNK(status.st_mode)) {
      const fs::path target = fs::read_symlink(at, error);
      if (error || ++links > kMostLinks) return fmt::format("{}: can't be followed", at.string());
      rest.insert(rest.begin(), target.begin(), target.end());
      at = at.parent_path();
      continue;
    }
    if (!S_ISDIR(status.st_mode)) return fmt::format("{}: is not a folder", at.string());
    // In a sticky folder (/tmp) others can't rename what is ours or root's, and every part is.
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0)
      return fmt::format("{}: other users can replace its contents", at.string());
  }
  return {};
}

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path place = fs::absolute(temporary_place(), error);
  std::string name = (place / "roofline-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    throw UsageError(
        fmt::format("can't create a folder in {}: {}", place.string(), error ? error.message() : std::strerror(errno)),
        "set TMPDIR to a folder that can be written");
  }
  path_ = name;
  try {
    require_private(path_);
  } catch (...) {
    fs::remove(path_, error);
    throw;
  }
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace roofline
