#include "inject/xla_graphs.hpp"

#include <algorithm>
#include <cstddef>

#include "inject/loaded_library.hpp"

namespace roofline::inject {

bool allows_xla_graphs(std::string_view xla_flags) {
  constexpr std::string_view kFlag = "--xla_gpu_enable_command_buffer=", kSpace = " \t\n";
  bool allowed = true;
  while (!xla_flags.empty()) {
    const std::size_t end = std::min(xla_flags.find_first_of(kSpace), xla_flags.size());
    const std::string_view flag = xla_flags.substr(0, end);
    if (flag.starts_with(kFlag)) {
      const std::string_view kinds = flag.substr(kFlag.size());
      allowed = kinds.find_first_not_of("'\"") != std::string_view::npos;
    }
    xla_flags.remove_prefix(std::min(end + 1, xla_flags.size()));
  }
  return allowed;
}

bool is_xla_loaded() { return !loaded_library("xla_cuda_plugin.so").empty(); }

}  // namespace roofline::inject
