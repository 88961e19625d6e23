#include "host/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

using FileId = std::pair<dev_t, ino_t>;

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

std::mutex inputs_mutex;

std::map<FileId, fs::path>& inputs() {
  static std::map<FileId, fs::path> known;
  return known;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Another user may have put the link into a world-writable folder.
bool is_strangers_link(const fs::path& link) {
  struct stat status {
  }, around{};
  const fs::path folder = link.has_parent_path() ? link.parent_path() : ".";
  if (::lstat(link.c_str(), &status) != 0 || ::stat(folder.c_str(), &around) != 0) return true;
  constexpr mode_t kOpenToAll = S_ISVTX | S_IWOTH;
  return (around.st_mode & kOpenToAll) == kOpenToAll && status.st_uid != ::geteuid() && status.st_uid != around.st_uid;
}

constexpr const char* kAccessList = "system.posix_acl_access";

/// The access list of a file; empty where it has none.
std::string access_list(const fs::path& path) {
  std::string list(std::size_t{1} << 16, '\0');  // the most that Linux keeps
  const ssize_t size = ::getxattr(path.c_str(), kAccessList, list.data(), list.size());
  list.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return list;
}

/// Gives the new file the access of the old one, or less where the system refuses a part. 0, or the system's reason.
int take_access(int file, const fs::path& old, const struct stat& before) {
  // Only root may give files away; the group may be one of the user's.
  if (::fchown(file, before.st_uid, before.st_gid) != 0 && ::fchown(file, static_cast<uid_t>(-1), before.st_gid) != 0) {
    errno = 0;
  }
  struct stat now {};
  if (::fstat(file, &now) != 0) return errno;
  mode_t mode = before.st_mode & 0777U;
  const std::string list = access_list(old);
  const bool same_group = now.st_gid == before.st_gid;
  if (list.empty()) {
    ::fremovexattr(file, kAccessList);  // of the folder's default
    // Another group gets what both the old group and all others had.
    const mode_t both = (mode >> 3U) & mode & 07U;
    if (!same_group) mode = (mode & 0700U) | both << 3U | both;
  } else if (!same_group || ::fsetxattr(file, kAccessList, list.data(), list.size(), 0) != 0) {
    ::fremovexattr(file, kAccessList);
    mode &= 0700U;
  }
  if (::fchmod(file, mode) == 0) return 0;
  const int error = errno;
  // File systems without modes give all files the same one.
  if (::fstat(file, &now) == 0 && (now.st_mode & 0777U & ~mode) == 0) return 0;
  return error;
}

}  // namespace

void add_input(const fs::path& path) {
  struct stat status {};
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error || ::stat(path.c_str(), &status) != 0) return;
  const std::lock_guard lock(inputs_mutex);
  inputs().insert_or_assign(id_of(status), whole);
}

void require_output(const fs::path& path, const std::string& hint) {
  struct stat status {};
  if (::stat(replaced_file(path).c_str(), &status) != 0) return;
  const std::lock_guard lock(inputs_mutex);
  const auto found = inputs().find(id_of(status));
  if (found == inputs().end()) return;
  // The input may be gone, and its number be another file's.
  struct stat input {};
  if (::stat(found->second.c_str(), &input) != 0 || id_of(input) != id_of(status)) return;
  throw UsageError(fmt::format("{}: would replace an input ({})", path.string(), found->second.string()), hint);
}

void write_output(const fs::path& path, const std::string& content) {
  require_output(path);
  write_file(path, content);
}

fs::path replaced_file(const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{}: {}", path.string(), why), "name a file with -o, or '-' for stdout");
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse(fmt::format("is {}, not a file that can be replaced", kind_of(status.st_mode)));
  }
  fs::path file = path;
  constexpr int kMostLinks = 40;  // as Linux follows
  for (int links = 0;; ++links) {
    std::error_code none;
    const fs::path target = fs::read_symlink(file, none);
    if (none) return file;
    if (links == kMostLinks) refuse("too many symbolic links");
    if (is_strangers_link(file)) refuse("is another user's symbolic link in a world-writable folder");
    file = file.parent_path() / target;
  }
}

int create_replacement(const fs::path& temporary, const fs::path& replaced) {
  struct stat before {};
  const bool replaces = ::stat(replaced.c_str(), &before) == 0;
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
  if (file < 0 || !replaces) return file;
  const int error = take_access(file, replaced, before);
  if (error == 0) return file;
  ::close(file);
  ::unlink(temporary.c_str());
  errno = error;
  return -1;
}

}  // namespace roofline
