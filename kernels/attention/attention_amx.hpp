// Attention on AMX tiles: declarations of the kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// Queries per call, and keys per block, whose scores stay in L2 for the second product.
inline constexpr std::int64_t kTiledQueries = 128;
inline constexpr std::int64_t kTiledKeys = 512;

/// Tiles of packed keys and values of a head, for `keys` keys. A multiple of kTiledKeys starts where the previous
/// keys end.
constexpr std::int64_t head_tiles(std::int64_t keys, std::int64_t d) {
  const auto blocks = [](std::int64_t count) { return (count + kTileBlock - 1) / kTileBlock; };
  return 2 * kStepTiles * blocks(keys) * blocks(d);
}

/// Workspace of amx_attention() in tiles: Qᵀ, Oᵀ and the peaks and sums of each panel of 32 queries, and once the
/// scores and weights of a block of keys.
constexpr std::int64_t tiled_attention_workspace(std::int64_t d) {
  const std::int64_t panel = (d + kTileBlock - 1) / kTileBlock * (kStepTiles + kBlockTiles) + 1;
  return kTiledQueries / kTileBlock * panel + kTiledKeys / kTileBlock * (kBlockTiles + kStepTiles);
}

/// Packs up to kTiledKeys keys and values, [keys × d] each, into tiles.
template <Isa isa, typename T>
void amx_pack_head(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to);

/// O = softmax(Q K^T / sqrt(d)) V for up to kTiledQueries rows of one head: q and o are [queries × d], `head` is
/// the result of amx_pack_head() for at least `keys` keys. With `causal` the queries are the last ones of the keys:
/// the i-th sees all but the last queries - 1 - i. Single-threaded, at level avx512, with T = Bf16 or Fp16;
/// requires amx_missing() to return nothing.
template <Isa isa, typename T>
void amx_attention(const T* q, const Tile* head, std::int64_t head_keys, T* o, Tile* workspace, std::int64_t queries,
                   std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
