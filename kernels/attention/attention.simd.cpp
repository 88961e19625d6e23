// Fused attention, one for each instruction-set level. Queries lie across the lanes of a vector: the scores of a block
// of keys are K · Qᵀ, their softmax runs down the columns without adding up lanes, and what it leaves is the right
// operand of Vᵀ · P as it lies. Q and the output are transposed once for all keys, K and V packed once for all queries.
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
template <typename T>
void online_softmax(T* scores, std::int64_t keys, const Panel<T>& panel, T* shrink) {
  using V = Vector<kIsa, T>;
  constexpr int kVectors = RegisterTile<kIsa, T>::kVectors;
  typename V::Packet peaks[kVectors];
  typename V::Packet sums[kVectors];
  for (int v = 0; v < kVectors; ++v) peaks[v] = V::load(panel.peak + v * V::kLanes);
  for (std::int64_t j = 0; j < keys; ++j) {
    for (int v = 0; v < kVectors; ++v) peaks[v] = V::maximum(peaks[v], V::load(scores + j * kPanel<T> + v * V::kLanes));
  }
  for (int v = 0; v < kVectors; ++v) {
    const auto factor = V::exponential(V::subtract(V::load(panel.peak + v * V::kLanes), peaks[v]));
    V::store(shrink + v * V::kLanes, factor);
    sums[v] = V::multiply(V::load(panel.sum + v * V::kLanes), factor);
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

/// Sums on top of what is there, times its column's factor.
template <typename T>
struct Rescale {
  const T* factors;
  template <typename V>
  void put(typename V::Packet sum, T* to, int vector) const {
    V::store(to, V::multiply_add(V::load(to), V::load(factors + vector * V::kLanes), sum));
  }
};

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

template <typename T>
constexpr std::int64_t kTileRows = RegisterTile<kIsa, T>::kRows;

/// Adds what a packed block contributes, or the first `keys` of its keys and values. `seen` as for mask(), which is not
/// needed from `keys` on.
template <typename T>
void attend(const Panel<T>& panel, T* scores, const T* block, std::int64_t keys, std::int64_t d, std::int64_t seen) {
  constexpr std::int64_t kWidth = kPanel<T>;
  alignas(64) T shrink[kWidth];
  multiply_rows<kIsa>(block, d, panel.scaled, d, scores, kWidth, keys, Overwrite{});
  mask(scores, keys, seen);
  online_softmax(scores, keys, panel, shrink);
  multiply_rows<kIsa>(block + kKeyBlock * d, kKeyBlock, scores, keys, panel.out, kWidth, d, Rescale<T>{shrink});
}

}  // namespace

template <Isa isa, typename T>
void pack_keys(const T* k, const T* v, std::int64_t keys, std::int64_t d, Computed<T>* to) {
  using Value = Computed<T>;
  constexpr std::int64_t kRows = kTileRows<Value>;
  static_assert(kKeyBlock % kRows == 0 && kRows <= 12 && kPanel<Value> <= 64);
  for (std::int64_t first = 0; first < keys; first += kRows) {
    const T* panel[kRows];
    for (std::int64_t i = 0; i < kRows; ++i) panel[i] = k + smaller(first + i, keys - 1) * d;
    pack_across<kRows, isa>(panel, d, to + first * d);
  }
  Value* values = to + kKeyBlock * d;
  constexpr std::int64_t kChunk = 60;
  for (std::int64_t j = 0; j < keys; ++j) {
    for (std::int64_t chunk = 0; chunk < d; chunk += kChunk) {
      alignas(64) Value wide[kChunk];
      const std::int64_t count = smaller(kChunk, d - chunk);
      const Value* row = values_at<isa>(v + j * d + chunk, wide, count);
      for (std::int64_t c = 0; c < count; c += kRows) {
        Value* panel = values + (chunk + c) * kKeyBlock + j * kRows;
        for (std::int64_t i = 0; i < kRows && c + i < count; ++i) panel[i] = row[c + i];
      }
    }
  }
}

template <Isa isa, typename T>
void attention_rows(const T* q, const Computed<T>* head, T* o, Computed<T>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal) {
  using Value = Computed<T>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  Value* scores = workspace + kQueryBlock * 2 * (d + 1);
  const auto each_panel = [&](auto work) {
    for (std::int64_t first = 0; first < queries; first += kWidth) {
      work(panel_at(workspace + first * 2 * (d + 1), d), first, smaller(kWidth, queries - first));
    }
  };
  each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
    begin(panel, q + first * d, count, d);
  });
  // Each block of keys serves all panels while it is in the caches.
  for (std::int64_t key = 0; key < keys; key += kKeyBlock, head += packed_block(d)) {
    each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
      const std::int64_t by_first = causal ? keys - queries + first + 1 - key : keys - key;
      const std::int64_t by_last = causal ? by_first + count - 1 : by_first;
      if (by_last <= 0) return;
      attend(panel, scores, head, smaller(kKeyBlock, by_last), d, by_first);
    });
  }
  each_panel([&](const Panel<Value>& panel, std::int64_t first, std::int64_t count) {
    finish(panel, o + first * d, count, d);
  });
}

template void pack_keys<kIsa, float>(const float*, const float*, std::int64_t, std::int64_t, float*);
template void pack_keys<kIsa, double>(const double*, const double*, std::int64_t, std::int64_t, double*);
template void pack_keys<kIsa, Fp16>(const Fp16*, const Fp16*, std::int64_t, std::int64_t, float*);
template void pack_keys<kIsa, Bf16>(const Bf16*, const Bf16*, std::int64_t, std::int64_t, float*);

template void attention_rows<kIsa, float>(const float*, const float*, float*, float*, std::int64_t, std::int64_t,
                                          std::int64_t, bool);
template void attention_rows<kIsa, double>(const double*, const double*, double*, double*, std::int64_t, std::int64_t,
                                           std::int64_t, bool);
template void attention_rows<kIsa, Fp16>(const Fp16*, const float*, Fp16*, float*, std::int64_t, std::int64_t,
                                         std::int64_t, bool);
template void attention_rows<kIsa, Bf16>(const Bf16*, const float*, Bf16*, float*, std::int64_t, std::int64_t,
                                         std::int64_t, bool);

}  // namespace roofline
