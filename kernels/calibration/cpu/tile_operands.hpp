// Operands of the CPU's matrix ceilings, and their expected results. Contains no machine instruction.
#pragma once

#include <cstdint>

#include "kernels/blocks/cpu/small_float.hpp"
#include "kernels/calibration/cpu/tile_chains.hpp"

namespace roofline {

/// Random integers for which every sum is exact after that many rounds: int8 of any value, with sums modulo 2^32;
/// 16-bit types up to 127, with sums below 2^24. Up to 16384 rounds.
template <typename T>
TileOperands random_tile_operands(std::int64_t rounds);

/// What a round adds to element (i, j) of tile `sum` of the block, by the definition of the product.
template <typename T>
std::int64_t tile_step(const TileOperands& operands, int sum, int i, int j);

}  // namespace roofline
