// The chains on hardware tiles.
#include "kernels/calibration/cpu/tile_chains.hpp"

#include "kernels/blocks/cpu/amx_tiles.hpp"
#include "kernels/calibration/cpu/tile_chain_loops.hpp"

namespace roofline {

template <Isa isa, typename T>
void tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals) {
  run_tile_chains<isa, T, AmxTiles<isa>>(rounds, operands, totals);
}

template <Isa isa, typename T, int kAdditions>
void paced_tile_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals) {
  run_tile_chains<isa, T, AmxTiles<isa>, kAdditions>(rounds, operands, totals);
}

template void tile_chains<kIsa, Bf16>(std::int64_t, const TileOperands&, Tile*);
template void tile_chains<kIsa, Fp16>(std::int64_t, const TileOperands&, Tile*);
template void tile_chains<kIsa, std::int8_t>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, Bf16, kTilePaces[0]>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, Bf16, kTilePaces[1]>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, Fp16, kTilePaces[0]>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, Fp16, kTilePaces[1]>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, std::int8_t, kTilePaces[0]>(std::int64_t, const TileOperands&, Tile*);
template void paced_tile_chains<kIsa, std::int8_t, kTilePaces[1]>(std::int64_t, const TileOperands&, Tile*);

}  // namespace roofline
