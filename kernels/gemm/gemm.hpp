// Matrix product on the CPU: declarations of the vector kernels, and the implementation for 8-bit integers.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "op/op.hpp"

namespace roofline {

struct GemmExtents {
  std::int64_t m, n, k;
};

GemmExtents gemm_extents(const Workload& workload);

/// The number of rows and columns of blocks for that many workers, with the least total border, because every block
/// packs its own strips of A and B.
struct BlockGrid {
  int down, across;
};
BlockGrid block_grid(std::int64_t m, std::int64_t n, int workers);

/// C[rows × columns] = A[rows × depth] · B[depth × columns] for a block of a larger product: row-major, with row
/// distances of `lda`, `ldb` and `ldc` elements.
template <Isa isa, typename T>
void gemm_block(const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc, std::int64_t rows,
                std::int64_t columns, std::int64_t depth);

}  // namespace roofline
