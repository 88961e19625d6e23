// One part of the context, one kernel per instruction-set level: blocks of keys, so that their scores stay in L1;
// each key and value is read once for all heads of the group.
#include "kernels/decode/decode.hpp"

#include <cmath>

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kScoreBlock = 16;
constexpr int kRows = 2;  /// of values, added together

/// Dot product of a query, in put_by() order, and a key.
template <typename T>
Computed<T> dot(const Computed<T>* a, const T* b, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;  // independent sums hide the latency of an addition
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(0);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      const std::int64_t at = i + way * V::kLanes;
      sums[way] = V::multiply_add(V::take_back(a + at), V::load(b + at), sums[way]);
    }
  }
  for (; i + V::kLanes <= count; i += V::kLanes) {
    sums[0] = V::multiply_add(V::take_back(a + i), V::load(b + i), sums[0]);
  }
  Computed<T> total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) total += a[i] * V::get(b + i);
  return total;
}

/// to += the sum of factors[i] times row i, of kCount rows of length `count`: one load and one store of `to` for
/// all.
template <int kCount, typename T>
void add_scaled(Computed<T>* to, const T* rows, const Computed<T>* factors, std::int64_t count) {
  using V = Vector<kIsa, T>;
  typename V::Packet scale[kCount];
  for (int row = 0; row < kCount; ++row) scale[row] = V::all(factors[row]);
  std::int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) {
    auto sum = V::take_back(to + i);
    for (int row = 0; row < kCount; ++row) sum = V::multiply_add(scale[row], V::load(rows + row * count + i), sum);
    V::put_by(to + i, sum);
  }
  for (; i < count; ++i) {
    for (int row = 0; row < kCount; ++row) to[i] += factors[row] * V::get(rows + row * count + i);
  }
}

/// Prefetches one part of the lines of one or more rows into L2: values while scores are computed, and keys while
/// outputs are. In parts, because many requests at once delay later loads. Harmless past the last row.
template <typename T>
void request(const T* row, std::int64_t count, std::int64_t part, std::int64_t parts) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = part * kLine; i < count; i += parts * kLine) __builtin_prefetch(row + i, 0, 2);
}

/// Turns a block's scores into weights e^(score - peak) under the part's peak, which it may raise. Those past
/// `keys` become zero.
template <typename T>
void weigh(T* scores, std::int64_t keys, T* part, std::int64_t d) {
  using V = Vector<kIsa, T>;
  for (std::int64_t j = keys; j < kScoreBlock; ++j) scores[j] = -Eigen::NumTraits<T>::infinity();
  auto largest = V::load(scores);
  for (std::int64_t j = V::kLanes; j < kScoreBlock; j += V::kLanes) largest = V::maximum(largest, V::load(scores + j));
  const T peak = V::largest(largest);
  if (peak > part[d + 1]) {
    const T shrink = std::exp(part[d + 1] - peak);
    for (std::int64_t i = 0; i <= d; ++i) part[i] *= shrink;
    part[d + 1] = peak;
  }
  const auto peaks = V::all(part[d + 1]);
  auto sum = V::all(T{0});
  for (std::int64_t j = 0; j < kScoreBlock; j += V::kLanes) {
    const auto weight = V::exponential(V::subtract(V::load(scores + j), peaks));
    V::store(scores + j, weight);
    sum = V::add(sum, weight);
  }
  part[d] += V::sum(sum);
}

}  // namespace

template <Isa isa, typename T>
void decode_part(const T* q, const T* k, const T* v, Computed<T>* parts, std::int64_t heads, std::int64_t keys,
                 std::int64_t d) {
  using Value = Computed<T>;
  using V = Vector<isa, T>;
  const Value scale = 1 / std::sqrt(static_cast<Value>(d));
  Eigen::Matrix<Value, Eigen::Dynamic, kScoreBlock, Eigen::RowMajor> scores(heads, kScoreBlock);
  Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> queries(heads, d);
  const std::int64_t whole = d / V::kLanes * V::kLanes;
  for (std::int64_t head = 0; head < heads; ++head) {
    const T* query = q + head * d;
    for (std::int64_t i = 0; i < whole; i += V::kLanes) V::put_by(&queries(head, i), V::load(query + i));
    for (std::int64_t i = whole; i < d; ++i) queries(head, i) = V::get(query + i);
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    Value* part = parts + head * part_size(d);
    for (std::int64_t i = 0; i <= d; ++i) part[i] = 0;
    part[d + 1] = -Eigen::NumTraits<Value>::infinity();
  }
  for (std::int64_t first = 0; first < keys; first += kScoreBlock) {
    const std::int64_t count = keys - first < kScoreBlock ? keys - first : kScoreBlock;
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t head = 0; head < heads; ++head) {
        request(v + (first + j) * d, d, head, heads);
        scores(head, j) = scale * dot(&queries(head, 0), k + (first + j) * d, d);
      }
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      weigh(&scores(head, 0), count, parts + head * part_size(d), d);
    }
    std::int64_t j = 0;
    for (; j + kRows <= count; j += kRows) {
      for (std::int64_t head = 0; head < heads; ++head) {
        request(k + (first + kScoreBlock + j) * d, kRows * d, head, heads);
        add_scaled<kRows>(parts + head * part_size(d), v + (first + j) * d, &scores(head, j), d);
      }
    }
    for (; j < count; ++j) {
      for (std::int64_t head = 0; head < heads; ++head) {
        add_scaled<1>(parts + head * part_size(d), v + (first + j) * d, &scores(head, j), d);
      }
    }
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    Value* part = parts + head * part_size(d);
    for (std::int64_t i = 0; i < whole; i += V::kLanes) V::store_values(part + i, V::take_back(part + i));
  }
}

template void decode_part<kIsa, float>(const float*, const float*, const float*, float*, std::int64_t, std::int64_t,
                                       std::int64_t);
template void decode_part<kIsa, double>(const double*, const double*, const double*, double*, std::int64_t,
                                        std::int64_t, std::int64_t);
template void decode_part<kIsa, Fp16>(const Fp16*, const Fp16*, const Fp16*, float*, std::int64_t, std::int64_t,
                                      std::int64_t);
template void decode_part<kIsa, Bf16>(const Bf16*, const Bf16*, const Bf16*, float*, std::int64_t, std::int64_t,
                                      std::int64_t);

}  // namespace roofline
