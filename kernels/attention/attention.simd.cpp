// Fused attention, one for each instruction-set level. Queries lie across the lanes of a vector: the scores of a block
// of keys are K · Qᵀ, their softmax runs down the columns without adding up lanes, and what it leaves is the right
// operand of Vᵀ · P. So only Q and the output are transposed, once for all keys, and K and V are read where they lie.
#include "kernels/attention/attention.hpp"

#include <cmath>

#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

/// Queries side by side.
template <typename T>
constexpr std::int64_t kPanel = RegisterTile<kIsa, T>::kColumns;

/// What a panel of queries carries from one block of keys to the next.
template <typename T>
struct Panel {
  T* scaled;  ///< [d × queries], Q / sqrt(d)
  T* out;     ///< [d × queries]
  T* peak;    ///< largest score so far of each query
  T* sum;     ///< of its exponentials, relative to that
};

template <typename T>
Panel<T> panel_at(T* workspace, std::int64_t d) {
  T* out = workspace + d * kPanel<T>;
  T* peak = out + d * kPanel<T>;
  return {.scaled = workspace, .out = out, .peak = peak, .sum = peak + kPanel<T>};
}

/// Columns past the last query are zero, and stay harmless.
template <typename T>
void begin(const Panel<Computed<T>>& panel, const T* q, std::int64_t queries, std::int64_t d) {
  using Value = Computed<T>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  const Value scale = 1 / std::sqrt(static_cast<Value>(d));
  for (std::int64_t i = 0; i < kWidth; ++i) {
    for (std::int64_t c = 0; c < d; ++c) {
      panel.scaled[c * kWidth + i] = i < queries ? Vector<kIsa, T>::get(q + i * d + c) * scale : 0;
    }
    panel.peak[i] = -Eigen::NumTraits<Value>::infinity();
    panel.sum[i] = 0;
  }
  for (std::int64_t i = 0; i < d * kWidth; ++i) panel.out[i] = 0;
}

template <typename T>
void finish(const Panel<Computed<T>>& panel, T* o, std::int64_t queries, std::int64_t d) {
  for (std::int64_t i = 0; i < queries; ++i) {
    const auto scale = 1 / panel.sum[i];
    for (std::int64_t c = 0; c < d; ++c) {
      Vector<kIsa, T>::put(o + i * d + c, panel.out[c * kPanel<Computed<T>> + i] * scale);
    }
  }
}

/// The values at `from`: themselves, or those of 16 bits widened into `copy`. One widening serves all queries of the
/// call, and its block is in the caches when they come.
template <typename T>
const Computed<T>* values_at(const T* from, Computed<T>* copy, std::int64_t count) {
  if constexpr (kSmallFloat<T>) {
    using V = Vector<kIsa, T>;
    std::int64_t i = 0;
    for (; i + V::kLanes <= count; i += V::kLanes) V::store_values(copy + i, V::load(from + i));
    for (; i < count; ++i) copy[i] = V::get(from + i);
    return copy;
  } else {
    return from;
  }
}

/// The first query sees `seen` keys of the block, each next one another.
template <typename T>
void mask(T* scores, std::int64_t keys, std::int64_t seen) {
  for (std::int64_t j = seen < 0 ? 0 : seen; j < keys; ++j) {
    for (std::int64_t i = 0; i <= j - seen && i < kPanel<T>; ++i) {
      scores[j * kPanel<T> + i] = -Eigen::NumTraits<T>::infinity();
    }
  }
}

/// Turns scores into exponentials relative to the peaks, which they may raise. `shrink` becomes what brings earlier
/// sums under the new peaks.
template <typename T, typename Packet>
void online_softmax(T* scores, std::int64_t keys, const Panel<T>& panel, Packet* shrink) {
  using V = Vector<kIsa, T>;
  constexpr int kVectors = RegisterTile<kIsa, T>::kVectors;
  Packet peaks[kVectors];
  Packet sums[kVectors];
  for (int v = 0; v < kVectors; ++v) peaks[v] = V::load(panel.peak + v * V::kLanes);
  for (std::int64_t j = 0; j < keys; ++j) {
    for (int v = 0; v < kVectors; ++v) peaks[v] = V::maximum(peaks[v], V::load(scores + j * kPanel<T> + v * V::kLanes));
  }
  for (int v = 0; v < kVectors; ++v) {
    shrink[v] = V::exponential(V::subtract(V::load(panel.peak + v * V::kLanes), peaks[v]));
    sums[v] = V::multiply(V::load(panel.sum + v * V::kLanes), shrink[v]);
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      T* at = scores + j * kPanel<T> + v * V::kLanes;
      const auto weight = V::exponential(V::subtract(V::load(at), peaks[v]));
      V::store(at, weight);
      sums[v] = V::add(sums[v], weight);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    V::store(panel.peak + v * V::kLanes, peaks[v]);
    V::store(panel.sum + v * V::kLanes, sums[v]);
  }
}

/// Adds what a block of keys and values contributes. `seen` as for mask(), which is not needed from `keys` on.
template <typename T>
void attend(const Panel<T>& panel, T* scores, const T* k, const T* v, std::int64_t keys, std::int64_t d,
            std::int64_t seen) {
  using V = Vector<kIsa, T>;
  multiply_rows<kIsa>(StridedMatrix<T>{k, d, 1}, panel.scaled, scores, keys, d,
                      [zero = V::all(T{0})](auto, int) { return zero; });
  mask(scores, keys, seen);
  typename V::Packet shrink[RegisterTile<kIsa, T>::kVectors];
  online_softmax(scores, keys, panel, shrink);
  multiply_rows<kIsa>(StridedMatrix<T>{v, 1, d}, scores, panel.out, d, keys,
                      [&](auto sum, int vector) { return V::multiply(sum, shrink[vector]); });
}

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

}  // namespace

template <Isa isa, typename T>
void attention_rows(const T* q, const T* k, const T* v, T* o, Computed<T>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal) {
  using Value = Computed<T>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  Value* scores = workspace + kQueryBlock * 2 * (d + 1);
  Value* wide = scores + kQueryBlock * kKeyBlock;
  const auto each_panel = [&](auto work) {
    for (std::int64_t first = 0; first < queries; first += kWidth) {
      work(panel_at(workspace + first * 2 * (d + 1), d), first, smaller(kWidth, queries - first));
    }
  };
  each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
    begin(panel, q + first * d, count, d);
  });
  // Each block of keys serves all panels while it is in the caches.
  for (std::int64_t key = 0; key < keys; key += kKeyBlock) {
    const std::int64_t block = smaller(kKeyBlock, keys - key);
    const Value* block_keys = values_at(k + key * d, wide, block * d);
    const Value* block_values = values_at(v + key * d, wide + kKeyBlock * d, block * d);
    each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
      const std::int64_t by_first = causal ? keys - queries + first + 1 - key : keys - key;
      const std::int64_t by_last = causal ? by_first + count - 1 : by_first;
      if (by_last <= 0) return;
      attend(panel, scores, block_keys, block_values, smaller(kKeyBlock, by_last), d, by_first);
    });
  }
  each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
    finish(panel, o + first * d, count, d);
  });
}

template void attention_rows<kIsa, float>(const float*, const float*, const float*, float*, float*, std::int64_t,
                                          std::int64_t, std::int64_t, bool);
template void attention_rows<kIsa, double>(const double*, const double*, const double*, double*, double*, std::int64_t,
                                           std::int64_t, std::int64_t, bool);
template void attention_rows<kIsa, Fp16>(const Fp16*, const Fp16*, const Fp16*, Fp16*, float*, std::int64_t,
                                         std::int64_t, std::int64_t, bool);
template void attention_rows<kIsa, Bf16>(const Bf16*, const Bf16*, const Bf16*, Bf16*, float*, std::int64_t,
                                         std::int64_t, std::int64_t, bool);

}  // namespace roofline
