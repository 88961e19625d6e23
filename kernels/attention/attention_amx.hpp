// Attention on the tiles of AMX: what the launcher sees of the kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// Queries that one call works on at a time, and keys whose scores wait in L2 for the second product.
inline constexpr std::int64_t kTiledQueries = 128;
inline constexpr std::int64_t kTiledKeys = 512;

/// Tiles that a number of keys and values of a head take in the form that products want, a multiple of kTiledKeys of
/// which begins where those before it end.
constexpr std::int64_t head_tiles(std::int64_t keys, std::int64_t d) {
  const auto blocks = [](std::int64_t count) { return (count + kTileBlock - 1) / kTileBlock; };
  return 2 * kStepTiles * blocks(keys) * blocks(d);
}

/// Tiles that amx_attention() needs as a workspace: of a panel of 32 queries Qᵀ, Oᵀ and each query's peak and sum, and
/// once the scores and weights of a block of keys.
constexpr std::int64_t tiled_attention_workspace(std::int64_t d) {
  const std::int64_t panel = (d + kTileBlock - 1) / kTileBlock * (kStepTiles + kBlockTiles) + 1;
  return kTiledQueries / kTileBlock * panel + kTiledKeys / kTileBlock * (kBlockTiles + kStepTiles);
}

/// Brings up to kTiledKeys keys and values, [keys × d] each, into that form.
template <Isa isa, typename T>
void amx_pack_head(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to);

/// O = softmax(Q K^T / sqrt(d)) V for up to kTiledQueries rows of one head: q and o are [queries × d], `head` what
/// amx_pack_head() made of at least `keys` keys. With `causal` the queries are the last ones of the keys: the i-th sees
/// all but the last queries - 1 - i. On the calling thread, at level avx512, with T = Bf16 or Fp16: where amx_missing()
/// has no objection.
template <Isa isa, typename T>
void amx_attention(const T* q, const Tile* head, std::int64_t head_keys, T* o, Tile* workspace, std::int64_t queries,
                   std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
