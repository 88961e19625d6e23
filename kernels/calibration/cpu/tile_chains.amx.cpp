// Four chains, as products of matrices have them: one takes its next step after 4 x 16 cycles, and its last one has
// taken 52.
#include "kernels/calibration/cpu/tile_chains.hpp"

#include "kernels/blocks/cpu/amx_tiles.hpp"

namespace roofline {

template <Isa isa, typename T>
void tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* sums) {
  AmxTiles<isa> tiles;
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
    tiles.template multiply_add<T, 1, 4, 7>();
    tiles.template multiply_add<T, 2, 5, 6>();
    tiles.template multiply_add<T, 3, 5, 7>();
  }
  tiles.template store<0>(sums[0]);
  tiles.template store<1>(sums[1]);
  tiles.template store<2>(sums[2]);
  tiles.template store<3>(sums[3]);
}

template void tile_chains<kIsa, Bf16>(std::int64_t, const TileOperands&, Tile*);
template void tile_chains<kIsa, Fp16>(std::int64_t, const TileOperands&, Tile*);
template void tile_chains<kIsa, std::int8_t>(std::int64_t, const TileOperands&, Tile*);

}  // namespace roofline
