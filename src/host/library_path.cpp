#include "host/library_path.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/error.hpp"

namespace roofline {
namespace {
constexpr const char* kVariable = "LD_LIBRARY_PATH";
constexpr const char* kBefore = "ROOFLINE_USER_LIBRARY_PATH";
}  // namespace

std::optional<std::string> without_relative_folders(std::string_view library_path) {
  if (library_path.empty()) return std::nullopt;
  std::string kept;
  bool left_out = false;
  // The loader takes both for separators.
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = library_path.find_first_of(":;", begin);
    const std::string_view folder = library_path.substr(begin, end - begin);
    // "$ORIGIN/../lib" is the program's own.
    if (folder.starts_with('/') || folder.starts_with("$ORIGIN") || folder.starts_with("${ORIGIN}")) {
      if (!kept.empty()) kept += ':';
      kept += folder;
    } else {
      left_out = true;
    }
  }
  return left_out ? std::optional(kept) : std::nullopt;
}

void leave_relative_library_folders(char** argv) {
  const char* const path = std::getenv(kVariable);
  const auto trusted = without_relative_folders(path == nullptr ? "" : path);
  if (!trusted) return;
  ::setenv(kBefore, path, 1);
  // An empty value would be no entry, but none is clearer.
  if (trusted->empty()) {
    ::unsetenv(kVariable);
  } else {
    ::setenv(kVariable, trusted->c_str(), 1);
  }
  ::execv("/proc/self/exe", argv);
  throw UsageError(std::string("LD_LIBRARY_PATH has relative folders, and this program can't restart without them: ") +
                       std::strerror(errno),
                   std::string("set it to \"") + *trusted + "\"");
}

std::optional<std::string> user_library_path() {
  const char* const path = std::getenv(kBefore);
  return path == nullptr ? std::nullopt : std::optional<std::string>(path);
}

}  // namespace roofline
