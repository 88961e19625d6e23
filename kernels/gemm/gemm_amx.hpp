// Matrix products on AMX tiles: declaration of the kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// C[rows × columns] = A[rows × depth] · B for a block of a larger product, row-major, with row distances of `lda`,
/// `ldb` and `ldc` elements. B is [depth × columns], for int8 its transpose.
template <typename T>
struct TiledProduct {
  using Result = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, T>;

  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  Result* c;
  std::int64_t ldc;
  std::int64_t rows, columns, depth;
};

/// Rows and columns of C per block, and steps along k. A strip of A, 32 KiB, stays in L1 while all panels of B, 512
/// KiB, stream through L2; accumulators of earlier depths, 2 MiB, are behind them.
inline constexpr std::int64_t kTiledRows = 1024;
inline constexpr std::int64_t kTiledColumns = 512;
inline constexpr std::int64_t kTiledSteps = 16;

/// Workspace, in tiles, for that many rows and columns.
std::int64_t tiled_workspace(std::int64_t rows, std::int64_t columns);

/// Single-threaded, at level avx512, with T = Bf16, Fp16 or std::int8_t; requires amx_missing() to return nothing.
template <Isa isa, typename T>
void amx_product(const TiledProduct<T>& product, Tile* workspace);

}  // namespace roofline
