// Which Python files are the program's. Header-only, because the library that is loaded into profiled programs uses it,
// too.
#pragma once

#include <algorithm>
#include <string_view>

#include "text/parts.hpp"

namespace roofline {

/// True if a source file is in a cache of torch.compile or Triton. torch.compile's cache may be in any folder; its
/// files are called "c" and 51 digits of base 32, in a folder of the first two of them.
inline bool is_generated_python(std::string_view path) {
  if (contains_any(path, {"/torchinductor_", "/.triton/", "/triton/cache/"})) return true;
  constexpr std::size_t kDigits = 51;
  constexpr std::string_view kPattern = "/ab/c.py";  // without the digits
  if (path.size() < kDigits + kPattern.size() || !path.ends_with(".py")) return false;
  const std::string_view last = path.substr(path.size() - kDigits - kPattern.size());
  const std::string_view digits = last.substr(std::string_view("/ab/c").size(), kDigits);
  return last[0] == '/' && last[3] == '/' && last[4] == 'c' && digits.starts_with(last.substr(1, 2)) &&
         std::all_of(digits.begin(), digits.end(),
                     [](char digit) { return (digit >= 'a' && digit <= 'z') || (digit >= '2' && digit <= '7'); });
}

/// The path below the folder of installed packages: "torch/nn/functional.py"; empty if the file is not in one.
inline std::string_view path_in_packages(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t found = path.find(folder);
    if (found != std::string_view::npos) return path.substr(found + folder.size());
  }
  return {};
}

/// True for the functions of PyTorch that change gradients before they are reduced: communication hooks, which run in
/// autograd's threads.
inline bool is_communication_hook(std::string_view path) {
  return path.find("/torch/distributed/algorithms/") != std::string_view::npos;
}

/// True for a Python source file of the program: not of the standard library, of an installed package or generated.
inline bool is_own_python_file(std::string_view path) {
  // "<__array_function__ internals>" and the like: code that a library has made. "<string>" is that of `python -c`.
  const bool made = path.starts_with('<') && path != "<string>" && path != "<stdin>" && !path.starts_with("<ipython");
  return !made && !is_generated_python(path) && path_in_packages(path).empty() &&
         !contains_any(path, {"/lib/python3", "/lib64/python3"});
}

}  // namespace roofline
