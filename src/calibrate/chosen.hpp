// Selection by --only.
#pragma once

#include <fnmatch.h>

#include <string>

namespace roofline {

/// True if the glob `only` matches that ceiling, sweep or link.
inline bool is_chosen(const std::string& only, const std::string& name) {
  return ::fnmatch(only.c_str(), name.c_str(), 0) == 0;
}

}  // namespace roofline
