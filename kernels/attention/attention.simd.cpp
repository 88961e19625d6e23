// Fused attention, one for each instruction-set level: blocks of scores by Eigen's products, an online
// softmax in the cache, its result multiplied into the output while it is there.
#include "kernels/attention/attention.hpp"

#include <cmath>

#include "kernels/vector.hpp"

namespace roofline {
namespace {

/// 128 queries × 512 keys in fp32 are 256 KiB of scores: half of a usual level-2 cache.
constexpr std::int64_t kKeyBlock = 512;

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
T row_maximum(const T* row, std::int64_t count, T largest) {
  using V = Vector<kIsa, T>;
  auto packet = V::all(largest);
  std::int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) packet = V::maximum(packet, V::load(row + i));
  largest = V::largest(packet);
  for (; i < count; ++i) largest = row[i] > largest ? row[i] : largest;
  return largest;
}

/// Replaces a row of scores by exp(score - shift) and returns the sum.
template <typename T>
T exponentiate_row(T* row, std::int64_t count, T shift) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;  // independent exponentials hide each other's latency
  const auto shifts = V::all(shift);
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(T{0});
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      T* at = row + i + way * V::kLanes;
      const auto value = V::exponential(V::subtract(V::load(at), shifts));
      V::store(at, value);
      sums[way] = V::add(sums[way], value);
    }
  }
  T total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) {
    row[i] = Eigen::internal::pfirst(V::exponential(V::all(row[i] - shift)));
    total += row[i];
  }
  return total;
}

/// What a block of queries carries from one block of keys to the next.
template <typename T>
struct Block {
  Matrix<T> scaled;                          ///< Q / sqrt(d)
  Matrix<T> scores;                          ///< [queries × keys of the block]
  Eigen::Matrix<T, Eigen::Dynamic, 1> peak;  ///< largest score so far of each query
  Eigen::Matrix<T, Eigen::Dynamic, 1> sum;   ///< of its exponentials, relative to that
};

/// Turns scores into exponentials, and rescales what was gathered under a smaller peak. The first row sees `seen` keys,
/// each next one `more` of them more.
template <typename T, typename Output>
void online_softmax(Block<T>& block, Output& out, std::int64_t seen, std::int64_t more) {
  for (std::int64_t i = 0; i < block.scores.rows(); ++i, seen += more) {
    T* row = block.scores.data() + i * block.scores.cols();
    const std::int64_t keys = seen < 0 ? 0 : seen < block.scores.cols() ? seen : block.scores.cols();
    for (std::int64_t j = keys; j < block.scores.cols(); ++j) row[j] = 0;
    if (keys == 0) continue;
    const T peak = row_maximum(row, keys, block.peak[i]);
    if (peak > block.peak[i]) {
      const T shrink = std::exp(block.peak[i] - peak);
      block.sum[i] *= shrink;
      out.row(i) *= shrink;
      block.peak[i] = peak;
    }
    block.sum[i] += exponentiate_row(row, keys, peak);
  }
}

template <typename T>
void attention(const T* q, const T* k, const T* v, T* o, std::int64_t queries, std::int64_t keys, std::int64_t d,
               bool causal) {
  using ConstMap = Eigen::Map<const Matrix<T>>;
  Block<T> block;
  const T scale = T{1} / std::sqrt(static_cast<T>(d));
  for (std::int64_t first = 0; first < queries; first += kQueryBlock) {
    const std::int64_t rows = queries - first < kQueryBlock ? queries - first : kQueryBlock;
    block.scaled = ConstMap(q + first * d, rows, d) * scale;
    block.peak.setConstant(rows, -Eigen::NumTraits<T>::infinity());
    block.sum.setZero(rows);
    Eigen::Map<Matrix<T>> out(o + first * d, rows, d);
    out.setZero();
    for (std::int64_t key = 0; key < keys; key += kKeyBlock) {
      const std::int64_t columns = keys - key < kKeyBlock ? keys - key : kKeyBlock;
      block.scores.resize(rows, columns);
      block.scores.noalias() = block.scaled * ConstMap(k + key * d, columns, d).transpose();
      const std::int64_t seen = causal ? keys - queries + first + 1 - key : columns;
      online_softmax(block, out, seen, causal ? 1 : 0);
      out.noalias() += block.scores * ConstMap(v + key * d, columns, d);
    }
    for (std::int64_t i = 0; i < rows; ++i) out.row(i) /= block.sum[i];
  }
}

}  // namespace

template <>
void attention_rows<kIsa, float>(const float* q, const float* k, const float* v, float* o, std::int64_t queries,
                                 std::int64_t keys, std::int64_t d, bool causal) {
  attention(q, k, v, o, queries, keys, d, causal);
}

template <>
void attention_rows<kIsa, double>(const double* q, const double* k, const double* v, double* o, std::int64_t queries,
                                  std::int64_t keys, std::int64_t d, bool causal) {
  attention(q, k, v, o, queries, keys, d, causal);
}

}  // namespace roofline
