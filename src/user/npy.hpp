// NumPy's .npy files: arrays of numbers, as expected values and as inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace roofline {

/// The elements in C order, as fp64. Little-endian floats of 16, 32 and 64 bits, integers and booleans. Throws Error
/// for anything else, and unless there are `elements` of them.
std::vector<double> read_npy(const std::filesystem::path& path, std::int64_t elements);

}  // namespace roofline
