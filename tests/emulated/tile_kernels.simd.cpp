// Computed tiles, and the kernels on them.
#include "tests/emulated/tile_kernels.hpp"

#include "kernels/attention/tiled_attention.hpp"
#include "kernels/calibration/cpu/tile_chain_loops.hpp"
#include "kernels/conv2d/tiled_conv.hpp"
#include "kernels/gemm/tiled_product.hpp"

namespace roofline {
namespace {

float value(Bf16 element) { return std::bit_cast<float>(std::uint32_t{element.bits} << 16); }
float value(Fp16 element) { return Vector<kIsa, Fp16>::get(&element); }
std::int32_t value(std::int8_t element) { return element; }

template <typename T>
void step(const Tile& left, const Tile& right, Tile& sums) {
  constexpr int kInWord = 4 / sizeof(T);
  for (int i = 0; i < kTileRows; ++i) {
    for (int j = 0; j < kTileRows; ++j) {
      TileSum<T> sum;
      std::memcpy(&sum, &sums.words[i][j], sizeof sum);
      for (int p = 0; p < kTileRows; ++p) {
        T a[kInWord];
        T b[kInWord];
        std::memcpy(a, &left.words[i][p], sizeof a);
        std::memcpy(b, &right.words[p][j], sizeof b);
        for (int e = 0; e < kInWord; ++e) sum += value(a[e]) * value(b[e]);
      }
      std::memcpy(&sums.words[i][j], &sum, sizeof sum);
    }
  }
}

/// In place of AmxTiles. Registers hold nonsense until they are set.
class EmulatedTiles {
 public:
  EmulatedTiles() { std::memset(tiles_, 0xff, sizeof tiles_); }

  template <int kTile>
  void zero() {
    tiles_[kTile] = Tile{};
  }
  template <int kTile>
  void load(const Tile& from) {
    tiles_[kTile] = from;
  }
  template <int kTile>
  void store(Tile& to) const {
    to = tiles_[kTile];
  }
  template <typename T, int kSums, int kLeft, int kRight>
  void multiply_add() {
    step<T>(tiles_[kLeft], tiles_[kRight], tiles_[kSums]);
  }

 private:
  Tile tiles_[8];
};

}  // namespace

template <>
EmulatedForms emulated_forms<kIsa>() {
  using Forms = TileForms<kIsa>;
  return {.rows = &Forms::rows, .pairs = &Forms::pairs<Bf16>, .transpose = &Forms::transpose};
}

template <Isa isa, typename T>
void emulated_step(const Tile& left, const Tile& right, Tile& sums) {
  step<T>(left, right, sums);
}

template <Isa isa, typename T>
void emulated_chains(std::int64_t rounds, const TileOperands& operands, Tile* totals) {
  run_tile_chains<isa, T, EmulatedTiles>(rounds, operands, totals);
}

template <Isa isa, typename T>
void emulated_product(const TiledProduct<T>& product, Tile* workspace) {
  TiledLoops<isa, T, EmulatedTiles>(product, workspace).run();
}

template <Isa isa, typename T>
void emulated_pack_filters(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to) {
  TiledConv<isa, T, EmulatedTiles>::pack(filters, size, first, count, to);
}

template <Isa isa, typename T>
void emulated_convolution(const T* input, const Tile* filters, T* output, const ConvSize& size, std::int64_t first,
                          std::int64_t count, Tile* workspace) {
  TiledConv<isa, T, EmulatedTiles>(input, filters, output, size, workspace).run(first, count);
}

template <Isa isa, typename T>
void emulated_pack_head(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to) {
  TiledAttention<isa, T, EmulatedTiles>::pack(k, v, keys, d, to);
}

template <Isa isa, typename T>
void emulated_attention(const T* q, const Tile* head, std::int64_t head_keys, T* o, Tile* workspace,
                        std::int64_t queries, std::int64_t keys, std::int64_t d, bool causal) {
  TiledAttention<isa, T, EmulatedTiles>(workspace, d).run(q, head, head_keys, o, queries, keys, causal);
}

template void emulated_step<kIsa, Bf16>(const Tile&, const Tile&, Tile&);
template void emulated_step<kIsa, Fp16>(const Tile&, const Tile&, Tile&);
template void emulated_step<kIsa, std::int8_t>(const Tile&, const Tile&, Tile&);
template void emulated_chains<kIsa, Bf16>(std::int64_t, const TileOperands&, Tile*);
template void emulated_chains<kIsa, Fp16>(std::int64_t, const TileOperands&, Tile*);
template void emulated_chains<kIsa, std::int8_t>(std::int64_t, const TileOperands&, Tile*);
template void emulated_product<kIsa>(const TiledProduct<Bf16>&, Tile*);
template void emulated_product<kIsa>(const TiledProduct<Fp16>&, Tile*);
template void emulated_product<kIsa>(const TiledProduct<std::int8_t>&, Tile*);
template void emulated_pack_filters<kIsa>(const Bf16*, const ConvSize&, std::int64_t, std::int64_t, Tile*);
template void emulated_pack_filters<kIsa>(const Fp16*, const ConvSize&, std::int64_t, std::int64_t, Tile*);
template void emulated_convolution<kIsa>(const Bf16*, const Tile*, Bf16*, const ConvSize&, std::int64_t, std::int64_t,
                                         Tile*);
template void emulated_convolution<kIsa>(const Fp16*, const Tile*, Fp16*, const ConvSize&, std::int64_t, std::int64_t,
                                         Tile*);
template void emulated_pack_head<kIsa>(const Bf16*, const Bf16*, std::int64_t, std::int64_t, Tile*);
template void emulated_pack_head<kIsa>(const Fp16*, const Fp16*, std::int64_t, std::int64_t, Tile*);
template void emulated_attention<kIsa>(const Bf16*, const Tile*, std::int64_t, Bf16*, Tile*, std::int64_t, std::int64_t,
                                       std::int64_t, bool);
template void emulated_attention<kIsa>(const Fp16*, const Tile*, std::int64_t, Fp16*, Tile*, std::int64_t, std::int64_t,
                                       std::int64_t, bool);

}  // namespace roofline
