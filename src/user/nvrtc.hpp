// NVIDIA's run-time compiler, looked for at run time. It needs no GPU and no driver.
#pragma once

#include <string>
#include <vector>

namespace roofline {

struct NvrtcResult {
  bool available = true;  ///< the library was found
  bool compiled = false;
  std::string cubin;
  std::vector<std::string> names;  ///< of the entries, as the machine code has them
  std::string log;                 ///< the compiler's own words
};

/// Compiles CUDA C++ for an architecture ("sm_90a"). `name` is the file name in messages. Entries are C++ names;
/// templates are instantiated for them.
NvrtcResult nvrtc_compile(const std::string& text, const std::string& name, const std::string& architecture,
                          const std::vector<std::string>& options, const std::vector<std::string>& entries);

/// Version of the library, such as "13.0"; empty if there is none.
std::string nvrtc_version();

/// Folders of CUDA's own headers on this machine, in their order.
std::vector<std::string> cuda_include_folders();

}  // namespace roofline
