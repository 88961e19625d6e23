// NumPy's .npy files: arrays of numbers, as expected values and as inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "model/whole.hpp"

namespace roofline {

struct NpyArray {
  std::vector<double> values;     ///< in C order, as fp64: integers beyond 2^53 are rounded
  std::vector<Whole> whole = {};  ///< the same exactly, of integers of 64 bits
};

/// Little-endian floats of 16, 32 and 64 bits, integers and booleans. Throws Error for anything else, and unless there
/// are `elements` of them.
NpyArray read_npy(const std::filesystem::path& path, std::int64_t elements);

}  // namespace roofline
