// Matrix product on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// C[rows × columns] = A[rows × depth] · B[depth × columns] for a block of a larger product: row-major, `lda`, `ldb`
/// and `ldc` elements from one row to the next.
template <Isa isa, typename T>
void gemm_block(const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc, std::int64_t rows,
                std::int64_t columns, std::int64_t depth);

}  // namespace roofline
