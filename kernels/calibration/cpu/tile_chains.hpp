// The kernels behind the matrix ceilings of the CPU: products on tiles that stay in registers (tile_chain_loops.hpp).
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

/// `rounds` products into each of the kBlockTiles sums of a block, all zero at first, which are added to `totals`,
/// modulo 2^32; those of 16 bits must be whole numbers that fp32 holds. With T = Bf16, Fp16 or std::int8_t, where
/// amx_missing() has no objection.
template <Isa isa, typename T>
void tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals);

}  // namespace roofline
