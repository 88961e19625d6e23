// Fused attention on tiles. As in attention.simd.cpp, queries are the lanes: scores are K · Qᵀ, so that their
// softmax runs down the columns, and pairs of its rows, rounded, are the right operand of Vᵀ · P. Keys and values
// are packed into tiles once for all queries of a head. Include only in files compiled for a level.
#pragma once

#include <cmath>

#include "kernels/attention/attention_amx.hpp"
#include "kernels/blocks/cpu/tile_product.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

template <Isa isa, typename T, class Tiles>
class TiledAttention {
  using Forms = TileForms<isa>;
  using V = Vector<isa, float>;
  using Packet = typename V::Packet;
  /// Vectors of the 32 queries of a panel.
  static constexpr int kVectors = static_cast<int>(kTileBlock / V::kLanes);
  static constexpr std::int64_t kPanels = kTiledQueries / kTileBlock;

 public:
  /// K in strips of 32 keys, then Vᵀ in strips of 32 elements of the heads.
  static void pack(const T* k, const T* v, std::int64_t keys, std::int64_t d, Tile* to) {
    Tile* values = to + blocks(keys) * blocks(d) * kStepTiles;
    for (std::int64_t strip = 0; strip < blocks(keys); ++strip) {
      for (std::int64_t step = 0; step < blocks(d); ++step) {
        for (std::int64_t half = 0; half < kStepTiles; ++half) {
          const std::int64_t key = strip * kTileBlock;
          const std::int64_t c = step * kTileBlock;
          Forms::rows(k + (key + half * kTileRows) * d + c, bytes(d), keys - key - half * kTileRows, bytes(d - c),
                      to[(strip * blocks(d) + step) * kStepTiles + half]);
          Tile& tile = values[(step * blocks(keys) + strip) * kStepTiles + half];
          Forms::pairs(v + key * d + c + half * kTileRows, d, keys - key, d - c - half * kTileRows, tile);
          Forms::transpose(tile);
        }
      }
    }
  }

  TiledAttention(Tile* workspace, std::int64_t d)
      : d_(d),
        panels_(workspace),
        scores_(workspace + kPanels * panel_tiles(d)),
        weights_(scores_ + blocks(kTiledKeys) * kBlockTiles),
        scale_(V::all(static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(d))))) {}

  void run(const T* q, const Tile* head, std::int64_t head_keys, T* o, std::int64_t queries, std::int64_t keys,
           bool causal) {
    const auto each_panel = [&](auto work) {
      for (std::int64_t first = 0; first < queries; first += kTileBlock) {
        work(panel_at(first), first, smaller(kTileBlock, queries - first));
      }
    };
    each_panel(
        [&](const Panel& panel, std::int64_t first, std::int64_t count) { begin(panel, q + first * d_, count); });
    // Each block of keys serves all panels while it is in the caches.
    for (std::int64_t key = 0; key < keys; key += kTiledKeys) {
      const std::int64_t strips = blocks(smaller(kTiledKeys, head_keys - key));
      const Tile* block = head + head_tiles(key, d_);
      each_panel([&](const Panel& panel, std::int64_t first, std::int64_t count) {
        const std::int64_t by_first = (causal ? keys - queries + first + 1 : keys) - key;
        const std::int64_t by_last = causal ? by_first + count - 1 : by_first;
        if (by_last <= 0) return;
        attend(panel, block, strips, smaller(kTiledKeys, by_last), causal ? by_first : kTiledKeys);
      });
    }
    each_panel(
        [&](const Panel& panel, std::int64_t first, std::int64_t count) { finish(panel, o + first * d_, count); });
  }

 private:
  /// State of 32 queries between blocks of keys.
  struct Panel {
    Tile* queries;  ///< Qᵀ, a strip of the depth d
    Tile* out;      ///< Oᵀ, blocks of 32 elements
    float* peak;    ///< largest score so far of each query
    float* sum;     ///< of its weights, relative to that
  };

  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static constexpr std::int64_t blocks(std::int64_t count) { return (count + kTileBlock - 1) / kTileBlock; }
  static std::int64_t bytes(std::int64_t elements) { return elements * std::int64_t{sizeof(T)}; }
  static constexpr std::int64_t panel_tiles(std::int64_t d) { return blocks(d) * (kStepTiles + kBlockTiles) + 1; }

  Panel panel_at(std::int64_t first) const {
    Tile* queries = panels_ + first / kTileBlock * panel_tiles(d_);
    Tile* out = queries + blocks(d_) * kStepTiles;
    auto* peak = reinterpret_cast<float*>(out + blocks(d_) * kBlockTiles);
    return {queries, out, peak, peak + kTileBlock};
  }

  /// In a block of accumulators, the upper (0) or lower (1) tile of the v-th vector of its rows, at its first
  /// row; the next rows follow at intervals of kTileRows.
  static float* rows_at(Tile* block, std::int64_t half, int v) {
    const std::int64_t lane = v * V::kLanes;
    return reinterpret_cast<float*>(block[half * 2 + lane / kTileRows].words) + lane % kTileRows;
  }

  /// Calls `work(rows)` for the halves of that many blocks of accumulators, with the start of the rows of each
  /// vector.
  template <typename Work>
  static void each_half(Tile* sums, std::int64_t count, Work work) {
    for (std::int64_t half = 0; half < 2 * count; ++half) {
      float* rows[kVectors];
      for (int v = 0; v < kVectors; ++v) rows[v] = rows_at(sums + half / 2 * kBlockTiles, half % 2, v);
      work(rows, half);
    }
  }

  /// Queries past the last one are zero; their results are not used.
  void begin(const Panel& panel, const T* q, std::int64_t count) const {
    for (std::int64_t step = 0; step < blocks(d_); ++step) {
      for (std::int64_t half = 0; half < kStepTiles; ++half) {
        Tile& tile = panel.queries[step * kStepTiles + half];
        Forms::rows(q + half * kTileRows * d_ + step * kTileBlock, bytes(d_), count - half * kTileRows,
                    bytes(d_ - step * kTileBlock), tile);
        Forms::transpose(tile);
      }
    }
    for (std::int64_t i = 0; i < kTileBlock; ++i) {
      panel.peak[i] = -INFINITY;
      panel.sum[i] = 0;
    }
    for (std::int64_t i = 0; i < blocks(d_) * kBlockTiles; ++i) panel.out[i] = Tile{};
  }

  void finish(const Panel& panel, T* o, std::int64_t count) const {
    for (std::int64_t c = 0; c < d_; c += kTileRows) {
      for (std::int64_t half = 0; half < 2; ++half) {
        Tile& tile = panel.out[c / kTileBlock * kBlockTiles + c % kTileBlock / kTileRows * 2 + half];
        Forms::transpose(tile);
        for (std::int64_t i = half * kTileRows; i < smaller((half + 1) * kTileRows, count); ++i) {
          Forms::narrow(tile.words[i % kTileRows], 1 / panel.sum[i], smaller(kTileRows, d_ - c), o + i * d_ + c);
        }
      }
    }
  }

  /// Adds the contribution of a block of keys and values with that many strips of each. The first query of the
  /// panel sees `by_first` keys of it, each next query one more, at most `seen`.
  void attend(const Panel& panel, const Tile* block, std::int64_t strips, std::int64_t seen, std::int64_t by_first) {
    const auto nothing = [](std::int64_t) {};
    const Tile* values = block + strips * blocks(d_) * kStepTiles;
    const std::int64_t wanted = blocks(seen);
    for (std::int64_t strip = 0; strip < wanted; ++strip) {
      multiply_block<isa, T>(tiles_, block + strip * blocks(d_) * kStepTiles, panel.queries, blocks(d_), nullptr,
                             scores_ + strip * kBlockTiles, nothing);
    }
    mask(wanted * kTileBlock, seen, by_first);
    Packet shrink[kVectors];
    online_softmax(panel, wanted, shrink);
    for (std::int64_t c = 0; c < blocks(d_); ++c) {
      Tile* out = panel.out + c * kBlockTiles;
      each_half(out, 1, [&](float* const(&rows)[kVectors], std::int64_t) {
        for (std::int64_t at = 0; at < kTileRows * kTileRows; at += kTileRows) {
          for (int v = 0; v < kVectors; ++v) V::store(rows[v] + at, V::multiply(V::load(rows[v] + at), shrink[v]));
        }
      });
      multiply_block<isa, T>(tiles_, values + c * strips * kStepTiles, weights_, wanted, out, out, nothing);
    }
  }

  /// Sets scores of keys that a query must not see to the minimum; all of them from `seen` on.
  void mask(std::int64_t keys, std::int64_t seen, std::int64_t by_first) {
    for (std::int64_t j = by_first < 0 ? 0 : smaller(by_first, seen); j < keys; ++j) {
      const std::int64_t blind = j < seen ? smaller(j - by_first + 1, kTileBlock) : kTileBlock;
      Tile* tiles = scores_ + j / kTileBlock * kBlockTiles + j % kTileBlock / kTileRows * 2;
      for (std::int64_t i = 0; i < blind; ++i) {
        reinterpret_cast<float*>(tiles[i / kTileRows].words[j % kTileRows])[i % kTileRows] = -INFINITY;
      }
    }
  }

  /// Turns scores into weights relative to the peaks, which it may raise. `shrink` becomes the factor that
  /// rescales earlier sums to the new peaks.
  void online_softmax(const Panel& panel, std::int64_t strips, Packet* shrink) {
    Packet peaks[kVectors];
    Packet sums[kVectors];
    for (int v = 0; v < kVectors; ++v) peaks[v] = V::load(panel.peak + v * V::kLanes);
    each_half(scores_, strips, [&](float* const(&rows)[kVectors], std::int64_t) {
      for (std::int64_t at = 0; at < kTileRows * kTileRows; at += kTileRows) {
        for (int v = 0; v < kVectors; ++v) peaks[v] = V::maximum(peaks[v], V::load(rows[v] + at));
      }
    });
    for (int v = 0; v < kVectors; ++v) {
      shrink[v] = power(V::load(panel.peak + v * V::kLanes), peaks[v]);
      sums[v] = V::multiply(V::load(panel.sum + v * V::kLanes), shrink[v]);
    }
    each_half(scores_, strips, [&](float* const(&rows)[kVectors], std::int64_t half) {
      std::uint32_t* pairs[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t lane = v * V::kLanes;
        Tile& tile = weights_[half / 2 * kStepTiles + lane / kTileRows];
        pairs[v] = tile.words[half % 2 * kTileRows / 2] + lane % kTileRows;
      }
      for (std::int64_t at = 0; at < kTileRows * kTileRows; at += 2 * kTileRows) {
        for (int v = 0; v < kVectors; ++v) {
          const Packet even = power(V::load(rows[v] + at), peaks[v]);
          const Packet odd = power(V::load(rows[v] + at + kTileRows), peaks[v]);
          sums[v] = V::add(sums[v], V::add(even, odd));
          const WideBits words = narrowed_lanes(even) | narrowed_lanes(odd) << 16;
          std::memcpy(pairs[v] + at / 2, &words, sizeof words);
        }
      }
    });
    for (int v = 0; v < kVectors; ++v) {
      V::store(panel.peak + v * V::kLanes, peaks[v]);
      V::store(panel.sum + v * V::kLanes, sums[v]);
    }
  }

  /// e to the difference of two scores over sqrt(d).
  Packet power(Packet score, Packet peak) const {
    return V::power_of_two(V::multiply(V::subtract(score, peak), scale_));
  }
  static WideBits narrowed_lanes(Packet value) {
    return Conversion<isa, T>::narrow_lanes(reinterpret_cast<WideFloats>(value));
  }

  std::int64_t d_;
  Tiles tiles_;
  Tile* panels_;
  Tile* scores_;   ///< of a block of keys: a block of sums for each strip
  Tile* weights_;  ///< their softmax: a step of the depth for each strip
  Packet scale_;   ///< log2(e) / sqrt(d)
};

}  // namespace roofline
