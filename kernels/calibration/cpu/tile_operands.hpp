// Operands for the matrix ceilings of the CPU, and what they come to. No instruction of any CPU in it.
#pragma once

#include <cstdint>

#include "kernels/blocks/cpu/small_float.hpp"
#include "kernels/calibration/cpu/tile_chains.hpp"

namespace roofline {

/// Random whole numbers, such that after so many rounds every sum is exact: int8 of any size, whose sums are those
/// modulo 2^32; of 16 bits up to 127, whose sums stay below 2^24. Up to 16384 rounds.
template <typename T>
TileOperands random_tile_operands(std::int64_t rounds);

/// What a round adds to element (i, j) of tile `sum` of the block, by the definition of the product.
template <typename T>
std::int64_t tile_step(const TileOperands& operands, int sum, int i, int j);

}  // namespace roofline
