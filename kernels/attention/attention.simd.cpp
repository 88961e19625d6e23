// Fused attention, one per instruction-set level. Queries are the lanes of a vector: the scores of a block of keys
// are K · Qᵀ, their softmax runs down the columns without horizontal sums, and its result is already the right
// operand of Vᵀ · P. Q and the output are transposed once for all keys, K and V packed once for all queries.
#include "kernels/attention/attention.hpp"

#include <cmath>
#include <cstring>

#include "kernels/blocks/cpu/pack_panels.hpp"
#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Queries per panel: as wide for factors as for accumulators.
template <typename Value>
constexpr std::int64_t kPanel = RegisterTile<kIsa, Value>::kColumns;

/// State of a panel of queries between blocks of keys.
template <typename Factor>
struct Panel {
  using Value = Summed<Factor>;
  Factor* queries;  ///< [d × queries]
  Value* out;       ///< [d × queries]
  Value* peak;      /// largest score so far per query
  Value* sum;       /// of its weights, relative to the peak
};

template <typename Factor>
Panel<Factor> panel_at(Summed<Factor>* workspace, std::int64_t d) {
  constexpr std::int64_t kWidth = kPanel<Summed<Factor>>;
  auto* out = workspace + d * kWidth;
  auto* peak = out + d * kWidth;
  return {.queries = reinterpret_cast<Factor*>(workspace), .out = out, .peak = peak, .sum = peak + kWidth};
}

/// From a query-key product to the exponent (base 2) of its weight.
template <typename Value>
Value scale_of(std::int64_t d) {
  return Vector<kIsa, Value>::kLog2E / std::sqrt(static_cast<Value>(d));
}

/// Columns past the last query are copies of it; their results are not used.
template <typename T, typename Factor>
void begin(const Panel<Factor>& panel, const T* q, std::int64_t queries, std::int64_t d) {
  using Value = Summed<Factor>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  pack_rows<kWidth, kIsa>(q, d, queries, d, panel.queries);
  for (std::int64_t i = 0; i < kWidth; ++i) {
    panel.peak[i] = -Eigen::NumTraits<Value>::infinity();
    panel.sum[i] = 0;
  }
  for (std::int64_t i = 0; i < d * kWidth; ++i) panel.out[i] = 0;
}

/// Divides by the sums and transposes the output back, kWidth elements per query at a time.
template <typename T, typename Factor>
void finish(const Panel<Factor>& panel, T* o, std::int64_t queries, std::int64_t d) {
  using Value = Summed<Factor>;
  using V = Vector<kIsa, Value>;
  using Elements = Vector<kIsa, T>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  for (std::int64_t v = 0; v < kWidth; v += V::kLanes) {
    const auto scale = V::divide(V::all(1), V::load(panel.sum + v));
    for (Value* at = panel.out + v; at < panel.out + d * kWidth; at += kWidth) {
      V::store(at, V::multiply(V::load(at), scale));
    }
  }
  std::int64_t c = 0;
  for (; c + kWidth <= d; c += kWidth) {
    alignas(64) Value turned[kWidth * kWidth];
    const Value* rows[kWidth];
    for (std::int64_t i = 0; i < kWidth; ++i) rows[i] = panel.out + (c + i) * kWidth;
    pack_across<kWidth, kIsa>(rows, kWidth, turned);
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t e = 0; e < kWidth; e += Elements::kLanes) {
        Elements::store(o + i * d + c + e, Elements::load_values(turned + i * kWidth + e));
      }
    }
  }
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t e = c; e < d; ++e) Elements::put(o + i * d + e, panel.out[e * kWidth + i]);
  }
}

/// The first query sees `seen` keys of the block, each next query one more.
template <typename T>
void mask(T* scores, std::int64_t keys, std::int64_t seen) {
  for (std::int64_t j = seen < 0 ? 0 : seen; j < keys; ++j) {
    for (std::int64_t i = 0; i <= j - seen && i < kPanel<T>; ++i) {
      scores[j * kPanel<T> + i] = -Eigen::NumTraits<T>::infinity();
    }
  }
}

/// Turns scores into weights: powers of two, times `scale`, relative to the peaks, which it may raise. `shrink`
/// becomes the factor that rescales earlier sums to the new peaks. `weights` may alias the scores.
template <typename Factor>
void online_softmax(const Summed<Factor>* scores, std::int64_t keys, Summed<Factor> scale, const Panel<Factor>& panel,
                    Summed<Factor>* shrink, Factor* weights) {
  using T = Summed<Factor>;
  using V = Vector<kIsa, T>;
  constexpr int kVectors = RegisterTile<kIsa, T>::kVectors;
  typename V::Packet peaks[kVectors];
  typename V::Packet sums[kVectors];
  typename V::Packet shifts[kVectors];
  for (int v = 0; v < kVectors; ++v) peaks[v] = V::load(panel.peak + v * V::kLanes);
  for (std::int64_t j = 0; j < keys; ++j) {
    for (int v = 0; v < kVectors; ++v) peaks[v] = V::maximum(peaks[v], V::load(scores + j * kPanel<T> + v * V::kLanes));
  }
  for (int v = 0; v < kVectors; ++v) {
    shifts[v] = V::multiply(peaks[v], V::all(-scale));
    const auto factor =
        V::power_of_two(V::multiply(V::subtract(V::load(panel.peak + v * V::kLanes), peaks[v]), V::all(scale)));
    V::store(shrink + v * V::kLanes, factor);
    sums[v] = V::multiply(V::load(panel.sum + v * V::kLanes), factor);
  }
  const auto relative = [&](std::int64_t key, int v) {
    return V::multiply_add(V::load(scores + key * kPanel<T> + v * V::kLanes), V::all(scale), shifts[v]);
  };
  if constexpr (kProducts<Factor> == 1) {
    for (std::int64_t j = 0; j < keys; ++j) {
      for (int v = 0; v < kVectors; ++v) {
        const auto weight = V::power_of_two(relative(j, v));
        V::store(weights + j * kPanel<T> + v * V::kLanes, weight);
        sums[v] = V::add(sums[v], weight);
      }
    }
  } else {
    for (std::int64_t j = 0; j < keys; j += 2) {
      for (int v = 0; v < kVectors; ++v) {
        typename V::Packet pair[] = {relative(j, v), j + 1 < keys ? relative(j + 1, v) : V::all(-1000)};
        V::template powers<3>(pair, T(1));  // to 9e-5, of 4e-3 that are rounded away
        if (j + 1 == keys) pair[1] = V::all(0);
        store_pairs<kIsa>(pair[0], pair[1], weights + j / 2 * kPanel<T> + v * V::kLanes);
        sums[v] = V::add(sums[v], V::add(pair[0], pair[1]));
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    V::store(panel.peak + v * V::kLanes, peaks[v]);
    V::store(panel.sum + v * V::kLanes, sums[v]);
  }
}

/// Stores scores for the softmax that follows.
struct Scores : Overwrite {
  using StaysNear = void;
};

/// Adds to existing sums times their column's factor.
template <typename T>
struct Rescale {
  using StaysNear = void;
  const T* factors;
  template <typename V>
  void put(typename V::Packet sum, T* to, int vector) const {
    using Sums = Vector<kIsa, T>;
    Sums::store(to, Sums::multiply_add(Sums::load(to), Sums::load(factors + vector * Sums::kLanes), sum));
  }
};

template <typename Factor>
constexpr std::int64_t kTileRows = RegisterTile<kIsa, Factor>::kRows;

/// Adds the contribution of a packed block, or of the first `keys` of its keys and values. `seen` as for mask(); no
/// mask is needed from `keys` on.
template <typename Factor>
void attend(const Panel<Factor>& panel, Summed<Factor>* scores, const Factor* block, std::int64_t keys, std::int64_t d,
            std::int64_t seen) {
  using Value = Summed<Factor>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  constexpr std::int64_t kBlockSteps = kKeyBlock / kProducts<Factor>;
  const std::int64_t steps = steps_of<Factor>(d);
  const std::int64_t key_steps = steps_of<Factor>(keys);
  alignas(64) Value shrink[kWidth];
  auto* weights = reinterpret_cast<Factor*>(kProducts<Factor> == 1 ? scores : scores + kKeyBlock * 64);
  multiply_rows<kIsa>(block, steps, panel.queries, steps, scores, kWidth, keys, Scores{});
  mask(scores, keys, seen);
  online_softmax(scores, keys, scale_of<Value>(d), panel, shrink, weights);
  multiply_rows<kIsa>(block + kKeyBlock * steps, kBlockSteps, weights, key_steps, panel.out, kWidth, d,
                      Rescale<Value>{shrink});
}

/// Prefetches rows of K or V that are packed a few rows later, `count` elements in all: hardware prefetchers do not
/// follow short rows of many panels.
template <typename T>
void ask_ahead(const T* at, std::int64_t count) {
  constexpr std::int64_t kAhead = 8192 / sizeof(T);
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(at + kAhead + i);
}

/// Elements of a row of V per step: whole panels and whole registers at every level.
constexpr std::int64_t kValueChunk = 192;

/// A row of factors of V goes into panels, kTileRows factors in each, as a column of a left operand.
template <typename Factor>
void interleave(const Factor* row, std::int64_t count, Factor* to) {
  constexpr std::int64_t kRows = kTileRows<Factor>;
  constexpr std::int64_t kPanelSize = kRows * (kKeyBlock / kProducts<Factor>);
  for (; count >= kRows; count -= kRows, row += kRows, to += kPanelSize) std::memcpy(to, row, kRows * sizeof(Factor));
  for (std::int64_t i = 0; i < count; ++i) to[i] = row[i];
}

template <typename T>
const Computed<T>* factors_of(const T* v, std::int64_t, std::int64_t, std::int64_t count, Computed<T>* to) {
  return values_at<kIsa>(v, to, count);
}
/// Pairs of keys. The partner of an odd last key is zero.
const Bf16Pair* factors_of(const Bf16* v, std::int64_t keys, std::int64_t d, std::int64_t count, Bf16Pair* to) {
  pair_rows<kIsa>(v, keys > 1 ? v + d : nullptr, count, to);
  return to;
}

/// A few rows per step: a load that overlaps two stores waits until both are in the cache.
template <typename T, typename Factor>
void pack_values(const T* v, std::int64_t keys, std::int64_t d, Factor* to) {
  constexpr std::int64_t kRowsAtOnce = 8;
  constexpr std::int64_t kBlockSteps = kKeyBlock / kProducts<Factor>;
  for (std::int64_t c = 0; c < d; c += kValueChunk) {
    const std::int64_t count = smaller(kValueChunk, d - c);
    for (std::int64_t first = 0; first < steps_of<Factor>(keys); first += kRowsAtOnce) {
      alignas(64) Factor made[kRowsAtOnce][kValueChunk];
      const Factor* rows[kRowsAtOnce];
      const std::int64_t some = smaller(kRowsAtOnce, steps_of<Factor>(keys) - first);
      if (c == 0) ask_ahead(v + first * kProducts<Factor> * d, some * kProducts<Factor> * d);
      for (std::int64_t i = 0; i < some; ++i) {
        const std::int64_t key = (first + i) * kProducts<Factor>;
        rows[i] = factors_of(v + key * d + c, keys - key, d, count, made[i]);
      }
      for (std::int64_t i = 0; i < some; ++i) {
        interleave(rows[i], count, to + c * kBlockSteps + (first + i) * kTileRows<Factor>);
      }
    }
  }
}

}  // namespace

template <Isa isa, typename T, typename Factor>
void pack_keys(const T* k, const T* v, std::int64_t keys, std::int64_t d, Factor* to) {
  constexpr std::int64_t kRows = kTileRows<Factor>;
  static_assert(kKeyBlock % kRows == 0 && kValueChunk % kRows == 0 && kRows <= 12 && kPanel<Summed<Factor>> <= 64);
  for (std::int64_t first = 0; first < keys; first += kRows) {
    ask_ahead(k + first * d, kRows * d);
    pack_rows<kRows, isa>(k + first * d, d, smaller(kRows, keys - first), d, to + first * steps_of<Factor>(d));
  }
  pack_values(v, keys, d, to + kKeyBlock * steps_of<Factor>(d));
}

template <Isa isa, typename T, typename Factor>
void attention_rows(const T* q, const Factor* head, T* o, Summed<Factor>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal) {
  using Value = Summed<Factor>;
  constexpr std::int64_t kWidth = kPanel<Value>;
  Value* scores = workspace + kQueryBlock * 2 * (d + 1);
  const auto each_panel = [&](auto work) {
    for (std::int64_t first = 0; first < queries; first += kWidth) {
      work(panel_at<Factor>(workspace + first * 2 * (d + 1), d), first, smaller(kWidth, queries - first));
    }
  };
  each_panel([&](const Panel<Factor>& panel, std::int64_t first, std::int64_t count) {
    begin(panel, q + first * d, count, d);
  });
  // Each block of keys serves all panels while it is in the caches.
  for (std::int64_t key = 0; key < keys; key += kKeyBlock, head += packed_block<Factor>(d)) {
    each_panel([&](const Panel<Factor>& panel, std::int64_t first, std::int64_t count) {
      const std::int64_t by_first = causal ? keys - queries + first + 1 - key : keys - key;
      const std::int64_t by_last = causal ? by_first + count - 1 : by_first;
      if (by_last <= 0) return;
      attend(panel, scores, head, smaller(kKeyBlock, by_last), d, by_first);
    });
  }
  each_panel([&](const Panel<Factor>& panel, std::int64_t first, std::int64_t count) {
    finish(panel, o + first * d, count, d);
  });
}

template void pack_keys<kIsa>(const float*, const float*, std::int64_t, std::int64_t, float*);
template void attention_rows<kIsa>(const float*, const float*, float*, float*, std::int64_t, std::int64_t, std::int64_t,
                                   bool);
template void pack_keys<kIsa>(const double*, const double*, std::int64_t, std::int64_t, double*);
template void attention_rows<kIsa>(const double*, const double*, double*, double*, std::int64_t, std::int64_t,
                                   std::int64_t, bool);
template void pack_keys<kIsa>(const Fp16*, const Fp16*, std::int64_t, std::int64_t, float*);
template void attention_rows<kIsa>(const Fp16*, const float*, Fp16*, float*, std::int64_t, std::int64_t, std::int64_t,
                                   bool);
template void pack_keys<kIsa>(const Bf16*, const Bf16*, std::int64_t, std::int64_t, float*);
template void attention_rows<kIsa>(const Bf16*, const float*, Bf16*, float*, std::int64_t, std::int64_t, std::int64_t,
                                   bool);
template void pack_keys<kIsa>(const Bf16*, const Bf16*, std::int64_t, std::int64_t, Bf16Pair*);
template void attention_rows<kIsa>(const Bf16*, const Bf16Pair*, Bf16*, float*, std::int64_t, std::int64_t,
                                   std::int64_t, bool);

}  // namespace roofline
