// The instructions of a GPU kernel and the source lines that they came from, out of a CUDA device image ("cubin").
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// A kernel or device function of a cubin with its instructions and their source lines.
struct GpuFunction {
  std::string symbol;
  int architecture = 0;         ///< 90 for sm_90 and sm_90a
  std::vector<std::byte> code;  ///< 16 bytes an instruction
  std::vector<std::string> files;
  std::vector<std::string> callees;  ///< symbols
  struct At {
    int file = -1;  ///< in `files`; -1: unknown
    int line = 0;
    int callee = -1;  ///< in `callees`: the function of the system or the toolkit that this line calls; -1: none known
  };
  /// One line per instruction. Inlined code of the system or the toolkit has the nearest line of other code that it is
  /// inlined into, if the compiler recorded it (nvcc since CUDA 11.2), else its own.
  std::vector<At> lines;
};

/// std::nullopt if the cubin has no function of that symbol. Nothing in the cubin is trusted. A kernel's code includes
/// the device functions that its section holds. Lines need a program compiled with `-lineinfo`, or Triton.
std::optional<GpuFunction> read_gpu_function(std::span<const std::byte> cubin, std::string_view symbol);

}  // namespace roofline
