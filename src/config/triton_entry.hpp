// Metadata of a cubin in Triton's cache, from the .json beside it. Internal to src/config.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roofline {

struct TritonEntry {
  std::string name;               ///< of the kernel in the cubin
  std::int64_t threads = 0;       ///< of a block
  std::int64_t shared_bytes = 0;  ///< dynamic
  std::int64_t cluster = 1;       ///< blocks
  bool cooperative = false;
  std::vector<std::int64_t> scratch_bytes;  ///< a block: the two pointers that Triton appends to every signature
  bool has_descriptors = false;             ///< tensor descriptors among its arguments
};

/// std::nullopt if there is no such file, or it is not Triton's. Throws Error for one that can't be read.
std::optional<TritonEntry> triton_entry(const std::filesystem::path& cubin);

}  // namespace roofline
