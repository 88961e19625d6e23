// Convolution on hardware AMX tiles.
#include "kernels/conv2d/conv2d_amx.hpp"

#include "kernels/blocks/cpu/amx_tiles.hpp"
#include "kernels/conv2d/tiled_conv.hpp"

namespace roofline {

template <Isa isa, typename T>
void amx_pack_filters(const T* filters, const ConvSize& size, std::int64_t first, std::int64_t count, Tile* to) {
  TiledConv<isa, T, AmxTiles<isa>>::pack(filters, size, first, count, to);
}

template <Isa isa, typename T>
void amx_convolution(const T* input, const Tile* filters, T* output, const ConvSize& size, std::int64_t first,
                     std::int64_t count, Tile* workspace) {
  TiledConv<isa, T, AmxTiles<isa>>(input, filters, output, size, workspace).run(first, count);
}

template void amx_pack_filters<kIsa>(const Bf16*, const ConvSize&, std::int64_t, std::int64_t, Tile*);
template void amx_pack_filters<kIsa>(const Fp16*, const ConvSize&, std::int64_t, std::int64_t, Tile*);
template void amx_convolution<kIsa>(const Bf16*, const Tile*, Bf16*, const ConvSize&, std::int64_t, std::int64_t,
                                    Tile*);
template void amx_convolution<kIsa>(const Fp16*, const Tile*, Fp16*, const ConvSize&, std::int64_t, std::int64_t,
                                    Tile*);

}  // namespace roofline
