#include "host/private_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

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

}  // namespace

void require_private(const fs::path& folder) {
  const struct stat own = status_of(folder);
  if (!S_ISDIR(own.st_mode)) throw UsageError(fmt::format("{}: is not a folder", folder.string()), kHint);
  if (own.st_uid != ::geteuid()) throw UsageError(fmt::format("{}: belongs to another user", folder.string()), kHint);
  if ((own.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw UsageError(fmt::format("{}: other users have access to it", folder.string()), kHint);
  // Through a link, as the folder was: what counts is who may rename in it.
  const fs::path above = fs::canonical(folder.parent_path());
  const struct stat around = status_of(above);
  const bool others_write = (around.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (around.st_mode & S_ISVTX) == 0;
  const bool others_own = around.st_uid != ::geteuid() && around.st_uid != 0;
  if (others_write || others_own)
    throw UsageError(fmt::format("{}: other users can replace its contents", above.string()), kHint);
}

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path place = fs::absolute(fs::temp_directory_path(error));
  std::string name = (place / "roofline-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    throw UsageError(
        fmt::format("can't make a folder in {}: {}", place.string(), error ? error.message() : std::strerror(errno)),
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
