// Chains of tile products. `Tiles` are hardware tiles (amx_tiles.hpp), or emulated ones in tests. Include only in
// files compiled for a level.
#pragma once

#include <cstring>

#include "kernels/calibration/cpu/pace.hpp"
#include "kernels/calibration/cpu/tile_chains.hpp"

namespace roofline {

/// The bits of a sum as an integer.
template <Isa isa, typename T>
std::uint32_t whole_sum(std::uint32_t bits) {
  TileSum<T> sum;
  std::memcpy(&sum, &bits, sizeof sum);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(sum));
}

/// Four chains, as in matrix products: a chain takes its next step after 4 x 16 cycles, and the latency of a step
/// is 52.
template <Isa isa, typename T, class Tiles, int kAdditions = 0>
void run_tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals) {
  Tiles tiles;
  [[maybe_unused]] Chain additions;
  tiles.template zero<0>();
  tiles.template zero<1>();
  tiles.template zero<2>();
  tiles.template zero<3>();
  tiles.template load<4>(operands.left[0]);
  tiles.template load<5>(operands.left[1]);
  tiles.template load<6>(operands.right[0]);
  tiles.template load<7>(operands.right[1]);
  for (std::int64_t round = 0; round < rounds; ++round) {
    tiles.template multiply_add<T, 0, 4, 6>();
    additions.add<kAdditions>();
    tiles.template multiply_add<T, 1, 4, 7>();
    additions.add<kAdditions>();
    tiles.template multiply_add<T, 2, 5, 6>();
    additions.add<kAdditions>();
    tiles.template multiply_add<T, 3, 5, 7>();
    additions.add<kAdditions>();
  }
  Tile sums[kBlockTiles];
  tiles.template store<0>(sums[0]);
  tiles.template store<1>(sums[1]);
  tiles.template store<2>(sums[2]);
  tiles.template store<3>(sums[3]);
  for (std::int64_t tile = 0; tile < kBlockTiles; ++tile) {
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      for (std::int64_t j = 0; j < kTileRows; ++j) {
        totals[tile].words[i][j] += whole_sum<isa, T>(sums[tile].words[i][j]);
      }
    }
  }
}

}  // namespace roofline
