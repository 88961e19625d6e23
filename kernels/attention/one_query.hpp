// Attention of one query on the CPU: in fp64 for the references of attention and decode, and as the plain loop that is
// their first rung.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "op/tensor.hpp"

namespace roofline {

/// Keys and values of one head, [keys × d] each, widened once for all of its queries.
class WideHead {
 public:
  /// Reads head `head` of the tensors k and v, unless it is there already.
  void load(std::int64_t head, std::int64_t keys, std::int64_t d, const HostTensor& k, const HostTensor& v) {
    if (head == head_) return;
    head_ = head;
    keys_.resize(keys, d);
    values_.resize(keys, d);
    k.read(head * keys * d, {keys_.data(), static_cast<std::size_t>(keys_.size())});
    v.read(head * keys * d, {values_.data(), static_cast<std::size_t>(values_.size())});
  }

  /// softmax(query · keysᵀ / sqrt(d)) · values over the first `seen` keys, at those `columns` of the output (ascending
  /// columns of one row, or all of them).
  void attend(const Eigen::VectorXd& query, std::int64_t seen, std::span<const std::int64_t> columns,
              std::span<double> out) {
    weights_.noalias() = keys_.topRows(seen) * query / std::sqrt(static_cast<double>(query.size()));
    weights_ = (weights_.array() - weights_.maxCoeff()).exp().matrix();
    weights_ /= weights_.sum();
    const auto values = values_.topRows(seen);
    if (static_cast<std::int64_t>(columns.size()) == query.size()) {
      Eigen::Map<Eigen::VectorXd>(out.data(), query.size()).noalias() = values.transpose() * weights_;
      return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) out[i] = values.col(columns[i]).dot(weights_);
  }

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::int64_t head_ = -1;
  Matrix keys_, values_;
  Eigen::VectorXd weights_;
};

/// The same in T, element by element, over as many keys as `scores` has room for.
template <typename T>
void naive_query(const T* q, const T* k, const T* v, T* o, std::span<T> scores, std::int64_t d) {
  T largest = -std::numeric_limits<T>::infinity();
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const T* key = k + static_cast<std::int64_t>(j) * d;
    T dot = 0;
    for (std::int64_t p = 0; p < d; ++p) dot += q[p] * key[p];
    scores[j] = dot / std::sqrt(static_cast<T>(d));
    largest = std::max(largest, scores[j]);
  }
  std::fill_n(o, d, T{0});
  T sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const T weight = std::exp(scores[j] - largest);
    sum += weight;
    for (std::int64_t p = 0; p < d; ++p) o[p] += weight * v[static_cast<std::int64_t>(j) * d + p];
  }
  for (std::int64_t p = 0; p < d; ++p) o[p] /= sum;
}

}  // namespace roofline
