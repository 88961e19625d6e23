// The kernels on tiles, with tiles that are computed element by element: the same text as runs on a matrix unit, for
// any CPU and at every instruction-set level.
#pragma once

#include "kernels/attention/attention_amx.hpp"
#include "kernels/blocks/cpu/small_float.hpp"
#include "kernels/calibration/cpu/tile_chains.hpp"
#include "kernels/conv2d/conv2d_amx.hpp"
#include "kernels/gemm/gemm_amx.hpp"

namespace roofline {

/// TileForms, for T = Bf16 where a type matters.
struct EmulatedForms {
  void (*rows)(const void* from, std::int64_t stride, std::int64_t rows, std::int64_t bytes, Tile& to);
  void (*pairs)(const Bf16* from, std::int64_t stride, std::int64_t depth, std::int64_t columns, Tile& to);
  void (*transpose)(Tile& tile);
};
template <Isa isa>
EmulatedForms emulated_forms();

/// sums += left · right, once, by the definition.
template <Isa isa, typename T>
void emulated_step(const Tile& left, const Tile& right, Tile& sums);

/// As tile_chains().
template <Isa isa, typename T>
void emulated_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals);

/// As amx_product().
template <Isa isa, typename T>
void emulated_product(const TiledProduct<T>& product, Tile* workspace);

/// As amx_pack_filters() and amx_convolution().
template <Isa isa, typename T>
void emulated_pack_filters(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to);
template <Isa isa, typename T>
void emulated_convolution(const T* input, const Tile* filters, T* output, const ConvSize& size, std::int64_t first,
                          std::int64_t count, Tile* workspace);

/// As amx_pack_head() and amx_attention().
template <Isa isa, typename T>
void emulated_pack_head(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to);
template <Isa isa, typename T>
void emulated_attention(const T* q, const Tile* head, std::int64_t head_keys, T* o, Tile* workspace,
                        std::int64_t queries, std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
