// Eigen's blocked product, compiled for each instruction-set level.
#include "kernels/gemm/gemm.hpp"

#include <Eigen/Core>

namespace roofline {
namespace {

template <typename T>
void product(const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc, std::int64_t rows,
             std::int64_t columns, std::int64_t depth) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, 0, Stride> left(a, rows, depth, Stride(lda));
  const Eigen::Map<const Matrix, 0, Stride> right(b, depth, columns, Stride(ldb));
  Eigen::Map<Matrix, 0, Stride> result(c, rows, columns, Stride(ldc));
  result.noalias() = left * right;
}

}  // namespace

template <>
void gemm_block<kIsa, float>(const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                             std::int64_t ldc, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  product(a, lda, b, ldb, c, ldc, rows, columns, depth);
}

template <>
void gemm_block<kIsa, double>(const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double* c,
                              std::int64_t ldc, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  product(a, lda, b, ldb, c, ldc, rows, columns, depth);
}

}  // namespace roofline
