// Eigen's blocked product, one per instruction-set level.
#include "kernels/gemm/gemm.hpp"

#include <Eigen/Core>

namespace roofline {

template <Isa isa, typename T>
void gemm_block(const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc, std::int64_t rows,
                std::int64_t columns, std::int64_t depth) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, 0, Stride> left(a, rows, depth, Stride(lda));
  const Eigen::Map<const Matrix, 0, Stride> right(b, depth, columns, Stride(ldb));
  Eigen::Map<Matrix, 0, Stride> result(c, rows, columns, Stride(ldc));
  result.noalias() = left * right;
}

template void gemm_block<kIsa, float>(const float*, std::int64_t, const float*, std::int64_t, float*, std::int64_t,
                                      std::int64_t, std::int64_t, std::int64_t);
template void gemm_block<kIsa, double>(const double*, std::int64_t, const double*, std::int64_t, double*, std::int64_t,
                                       std::int64_t, std::int64_t, std::int64_t);

}  // namespace roofline
