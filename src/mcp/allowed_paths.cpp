#include "mcp/allowed_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& root, const fs::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

/// True if a link whose target does not exist is on the way: it would be followed when the file is written.
bool has_dangling_link(const fs::path& path) {
  fs::path so_far;
  std::error_code unknown;
  return std::any_of(path.begin(), path.end(), [&](const fs::path& part) {
    so_far /= part;
    return fs::is_symlink(fs::symlink_status(so_far, unknown));
  });
}

}  // namespace

AllowedPaths::AllowedPaths(const fs::path& working_folder, const std::vector<std::string>& allowed) {
  const auto add = [this](const fs::path& path) {
    std::error_code failed;
    roots_.push_back(fs::canonical(path, failed));
    if (failed) throw UsageError(fmt::format("--allow {}: {}", path.string(), failed.message()));
  };
  add(working_folder);
  for (const std::string& path : allowed) add(working_folder / path);
}

fs::path AllowedPaths::resolve(const std::string& given) const {
  if (given.empty()) throw UsageError("a path is empty");
  if (given.find('\0') != std::string::npos) throw UsageError("a path has a null character");
  std::error_code failed;
  const fs::path path = fs::weakly_canonical(working_folder() / given, failed);
  if (failed) throw UsageError(fmt::format("{}: {}", given, failed.message()));
  const bool allowed =
      std::any_of(roots_.begin(), roots_.end(), [&](const fs::path& root) { return is_below(root, path); });
  if (!allowed || has_dangling_link(path)) {
    throw UsageError(fmt::format("{}: outside of the folders that this server may use", given),
                     fmt::format("use a path below {}, or start the server with --allow", working_folder().string()));
  }
  return path;
}

}  // namespace roofline
