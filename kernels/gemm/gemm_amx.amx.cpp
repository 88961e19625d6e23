// The product on hardware AMX tiles.
#include "kernels/gemm/gemm_amx.hpp"

#include "kernels/blocks/cpu/amx_tiles.hpp"
#include "kernels/gemm/tiled_product.hpp"

namespace roofline {

template <Isa isa, typename T>
void amx_product(const TiledProduct<T>& product, Tile* workspace) {
  TiledLoops<isa, T, AmxTiles<isa>>(product, workspace).run();
}

template void amx_product<kIsa>(const TiledProduct<Bf16>&, Tile*);
template void amx_product<kIsa>(const TiledProduct<Fp16>&, Tile*);
template void amx_product<kIsa>(const TiledProduct<std::int8_t>&, Tile*);

}  // namespace roofline
