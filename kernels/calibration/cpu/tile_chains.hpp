// The kernels behind the matrix ceilings of the CPU: products on tiles that stay in registers (tile_chains.amx.cpp).
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// The two tiles of each operand that a block of sums is made of.
struct TileOperands {
  Tile left[kStepTiles];
  Tile right[kStepTiles];
};

/// `rounds` products into each of the kBlockTiles sums of a block, all zero at first: with T = Bf16, Fp16 or
/// std::int8_t, where amx_missing() has no objection.
template <Isa isa, typename T>
void tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* sums);

}  // namespace roofline
