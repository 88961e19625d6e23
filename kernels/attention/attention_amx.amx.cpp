// Fused attention on hardware AMX tiles.
#include "kernels/attention/attention_amx.hpp"

#include "kernels/attention/tiled_attention.hpp"
#include "kernels/blocks/cpu/amx_tiles.hpp"

namespace roofline {

template <Isa isa, typename T>
void amx_pack_head(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to) {
  TiledAttention<isa, T, AmxTiles<isa>>::pack(k, v, keys, d, to);
}

template <Isa isa, typename T>
void amx_attention(const T* q, const Tile* head, std::int64_t head_keys, T* o, Tile* workspace, std::int64_t queries,
                   std::int64_t keys, std::int64_t d, bool causal) {
  TiledAttention<isa, T, AmxTiles<isa>>(workspace, d).run(q, head, head_keys, o, queries, keys, causal);
}

template void amx_pack_head<kIsa>(const Bf16*, const Bf16*, std::int64_t, std::int64_t, Tile*);
template void amx_pack_head<kIsa>(const Fp16*, const Fp16*, std::int64_t, std::int64_t, Tile*);
template void amx_attention<kIsa>(const Bf16*, const Tile*, std::int64_t, Bf16*, Tile*, std::int64_t, std::int64_t,
                                  std::int64_t, bool);
template void amx_attention<kIsa>(const Fp16*, const Tile*, std::int64_t, Fp16*, Tile*, std::int64_t, std::int64_t,
                                  std::int64_t, bool);

}  // namespace roofline
