// The product of gathered windows and filters by Eigen, one per instruction-set level.
#include "kernels/conv2d/conv2d.hpp"

#include <Eigen/Core>

namespace roofline {
namespace {

template <typename T>
void product(const T* windows, const T* filters, T* out, std::int64_t pixels, std::int64_t filter_count,
             std::int64_t depth) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> left(windows, pixels, depth);
  const Eigen::Map<const Matrix> right(filters, filter_count, depth);
  Eigen::Map<Matrix> result(out, pixels, filter_count);
  result.noalias() = left * right.transpose();
}

}  // namespace

template <>
void conv_block<kIsa, float>(const float* windows, const float* filters, float* out, std::int64_t pixels,
                             std::int64_t filter_count, std::int64_t depth) {
  product(windows, filters, out, pixels, filter_count, depth);
}

template <>
void conv_block<kIsa, double>(const double* windows, const double* filters, double* out, std::int64_t pixels,
                              std::int64_t filter_count, std::int64_t depth) {
  product(windows, filters, out, pixels, filter_count, depth);
}

}  // namespace roofline
