#include "host/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "host/library_path.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace roofline {

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> environment_with(std::map<std::string, std::string> changes) {
  // Where the program finds its libraries is the user's to say, not ours.
  if (const auto path = user_library_path()) changes["LD_LIBRARY_PATH"] = *path;
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

}  // namespace roofline
