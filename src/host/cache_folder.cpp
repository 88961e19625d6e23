// The XDG specification's folder for caches.
#include "host/cache_folder.hpp"

#include <cstdlib>
#include <string>

#include "model/error.hpp"

namespace roofline {
namespace fs = std::filesystem;

fs::path cache_folder(const char* what, const char* hint) {
  // The specification: a relative path in the variable is invalid and to be ignored.
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && fs::path(xdg).is_absolute()) return fs::path(xdg) / "roofline";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "roofline";
  throw UsageError(std::string("neither XDG_CACHE_HOME nor HOME is set, so ") + what + " can't be kept", hint);
}

}  // namespace roofline
