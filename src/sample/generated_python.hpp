// Which Python files a compiler generated: their lines are not the program's. Header-only, because the library that is
// loaded into profiled programs uses it, too.
#pragma once

#include <algorithm>
#include <string_view>

namespace roofline {

/// True if a source file is in a cache of torch.compile or Triton. torch.compile's cache may be in any folder; its
/// files are called "c" and 51 digits of base 32, in a folder of the first two of them.
inline bool is_generated_python(std::string_view path) {
  for (const std::string_view part : {"/torchinductor_", "/.triton/", "/triton/cache/"}) {
    if (path.find(part) != std::string_view::npos) return true;
  }
  constexpr std::size_t kDigits = 51;
  constexpr std::string_view kPattern = "/ab/c.py";  // without the digits
  if (path.size() < kDigits + kPattern.size() || !path.ends_with(".py")) return false;
  const std::string_view last = path.substr(path.size() - kDigits - kPattern.size());
  const std::string_view digits = last.substr(std::string_view("/ab/c").size(), kDigits);
  return last[0] == '/' && last[3] == '/' && last[4] == 'c' && digits.starts_with(last.substr(1, 2)) &&
         std::all_of(digits.begin(), digits.end(),
                     [](char digit) { return (digit >= 'a' && digit <= 'z') || (digit >= '2' && digit <= '7'); });
}

}  // namespace roofline
