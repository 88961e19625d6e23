// Kernels of the CPU's matrix ceilings: products on tiles that stay in registers (tile_chain_loops.hpp).
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// The two tiles of each operand of a block of accumulators.
struct TileOperands {
  Tile left[kStepTiles];
  Tile right[kStepTiles];
};

/// `rounds` products into each of the kBlockTiles accumulators of a block, all zero at first, which are added to
/// `totals` modulo 2^32; 16-bit types must give integers that fp32 represents exactly. With T = Bf16, Fp16 or
/// std::int8_t; requires amx_missing() to return nothing.
template <Isa isa, typename T>
void tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals);

/// The same with kAdditions dependent additions (pace.hpp) after each product, whose 16 cycles they outlast: 18, or 36
/// where two virtual CPUs share the tile unit of a core.
inline constexpr int kTilePaces[] = {18, 36};
template <Isa isa, typename T, int kAdditions>
void paced_tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals);

}  // namespace roofline
