// Which of the registered ops belong to this repository: the others come from ROOFLINE_EXTRA_KERNELS.
#pragma once

#include <filesystem>

#include "op/registry.hpp"

namespace roofline {

/// Whether the folder and the file that registered the op are in kernels/. The rest of the path may be anything:
/// compilers are given shortened ones.
inline bool in_repository(const Op& op) {
  const std::filesystem::path source(source_of_op(op.name()));
  return std::filesystem::exists(std::filesystem::path(ROOFLINE_SOURCE_DIR) / "kernels" /
                                 source.parent_path().filename() / source.filename());
}

inline std::vector<const Op*> repository_ops() {
  std::vector<const Op*> ops = all_ops();
  std::erase_if(ops, [](const Op* op) { return !in_repository(*op); });
  return ops;
}

}  // namespace roofline
