// Innermost loops of a matrix product, on vectors of the level of a *.simd.cpp: a tile of the result stays in
// registers over the whole depth. The right operand is packed (pack_panels.hpp), one tile width of factors per step
// of k; the left one is packed (kRows factors per step) or read in place. A factor is an element, or neighbours
// along k that are multiplied at once (factors.hpp). GEMM, convolution and attention use it. Include only in
// *.simd.cpp files.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/blocks/cpu/factor_vectors.hpp"
#include "kernels/blocks/cpu/vector.hpp"
#include "model/names.hpp"

namespace roofline {

/// Extents of the tile: 24 accumulators of the 32 registers of AVX-512 and NEON, 12 of 16 elsewhere, besides a row
/// of the right operand and an element of the left one: two to three times what hides the FMA latency. On an
/// Emerald Rapids 12 × 2, 14 × 2, 8 × 3 and 6 × 4 vectors are equally fast; on a Zen 5 products with 14 × 2 take 3
/// % longer. kPlacedRows is for a left operand that is read in place: 14 divides the image sizes of neural
/// networks. kPanelLevel is the cache that holds a panel of the right operand between tiles: cores with AVX-512
/// read it from L2 at full speed, so it can be deep, and accumulators are seldom written back
/// (docs/evidence/peers-cpu.md).
template <Isa isa, typename T>
struct RegisterTile {
#if defined(__AVX512F__)
  static constexpr int kRows = 12;
  static constexpr int kPlacedRows = 14;
  static constexpr int kVectors = 2;
  static constexpr Level kPanelLevel = Level::l2;
#elif defined(__aarch64__)
  static constexpr int kRows = 6;
  static constexpr int kPlacedRows = 6;
  static constexpr int kVectors = 4;
  static constexpr Level kPanelLevel = Level::l1;
#else
  static constexpr int kRows = 6;
  static constexpr int kPlacedRows = 6;
  static constexpr int kVectors = 2;
  static constexpr Level kPanelLevel = Level::l1;
#endif
  static constexpr std::int64_t kColumns = kVectors * Vector<isa, T>::kLanes;
};

/// What happens with a vector of accumulators; `to` is its destination.
struct Overwrite {
  template <typename V>
  void put(typename V::Packet sum, auto* to, int) const {
    V::store(to, sum);
  }
};
struct AddTo {
  template <typename V>
  void put(typename V::Packet sum, auto* to, int) const {
    V::store(to, V::add(V::load(to), sum));
  }
};

/// True if a result is already in L1; it then needs no prefetch, which costs a load per vector of a tile.
template <typename Finish>
constexpr bool kStaysNear = requires {
  typename Finish::StaysNear;
};

/// Prefetches of a tile into L2 while it iterates over k: kLines lines, `bytes` further on every kDepthUnroll
/// steps.
template <Isa isa, int kLines = 1>
struct AskAhead {
  const char* at;
  std::int64_t bytes;

  void next() {
#pragma GCC unroll 8
    for (int i = 0; i < kLines; ++i) __builtin_prefetch(at + 64 * i, 0, 2);
    at += bytes;
  }
  void skip(std::int64_t times) { at += times * bytes; }
};
template <Isa isa>
struct AskNothing {
  void next() {}
};

/// A tile's rows of the left operand, in a packed panel.
template <Isa isa, typename T>
struct PackedRows {
  const T* at;

  const T& factor(std::int64_t step, int row) const { return at[step * RegisterTile<isa, T>::kRows + row]; }
  void advance(std::int64_t steps) { at += steps * RegisterTile<isa, T>::kRows; }
  void next_run() {}
  std::int64_t runs() const { return 1; }
};

/// The same in place: rows `stride` factors apart, along k in `runs` that are `run_stride` apart.
template <typename T>
struct PlacedRows {
  const T* at;
  std::int64_t stride;
  std::int64_t runs, run_stride;
};

/// kUsed such rows, with one pointer per three rows, because one per row would exceed the registers.
template <typename T, int kUsed>
class PlacedTile {
 public:
  explicit PlacedTile(const PlacedRows<T>& rows) : rows_(rows) { point(); }

  const T& factor(std::int64_t step, int row) const { return at_[row / 3][row % 3 * rows_.stride + step]; }
  void advance(std::int64_t steps) {
    for (const T*& at : at_) at += steps;
  }
  void next_run() {
    rows_.at += rows_.run_stride;
    point();
  }
  std::int64_t runs() const { return rows_.runs; }

 private:
  void point() {
    for (int i = 0; i < kPointers; ++i) at_[i] = rows_.at + 3 * i * rows_.stride;
  }

  static constexpr int kPointers = (kUsed + 2) / 3;
  PlacedRows<T> rows_;
  const T* at_[kPointers];
};

/// One tile of kUsed rows, with `depth` steps in each run of `left`. Not inlined: in a larger function its
/// addresses no longer fit in registers (10 % slower). The result is prefetched at the start and read when the
/// accumulators are complete.
template <int kUsed, Isa isa, class Left, typename T, typename Sum, typename Finish, typename Ahead>
[[gnu::noinline]] void multiply_tile(Left left, const T* right, std::int64_t depth, Sum* c, std::int64_t ldc,
                                     Finish finish, Ahead ahead) {
  using V = Vector<isa, T>;
  constexpr int kVectors = RegisterTile<isa, T>::kVectors;
  constexpr std::int64_t kColumns = RegisterTile<isa, T>::kColumns;
  typename V::Packet sums[kUsed][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (!kStaysNear<Finish>) __builtin_prefetch(c + i * ldc + (v + 1) * V::kLanes - 1);
      if constexpr (kFirstSums<T> == 1) {
        sums[i][v] = V::load(right + v * V::kLanes);
      } else {
        sums[i][v] = V::all(T{});
      }
    }
  }
  right += kFirstSums<T> * kColumns;
  const auto add_products = [&](std::int64_t step) {
    typename V::Packet row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = V::load(right + step * kColumns + v * V::kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kUsed; ++i) {
      const auto factor = V::all(left.factor(step, i));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = V::multiply_add(factor, row[v], sums[i][v]);
    }
  };
  for (std::int64_t run = 0; run < left.runs(); ++run) {
    if (run > 0) left.next_run();
    std::int64_t p = 0;
    for (; p + kDepthUnroll <= depth; p += kDepthUnroll) {
      ahead.next();
#pragma GCC unroll 4
      for (std::int64_t u = 0; u < kDepthUnroll; ++u) add_products(u);
      left.advance(kDepthUnroll);
      right += kDepthUnroll * kColumns;
    }
    for (; p < depth; ++p, right += kColumns) {
      add_products(0);
      left.advance(1);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) finish.template put<V>(sums[i][v], c + i * ldc + v * V::kLanes, v);
  }
}

/// A tile of up to kRows rows of a left panel, and a whole right panel.
template <Isa isa, typename T, typename Sum, typename Finish, typename Ahead = AskNothing<isa>>
void multiply_panels(const T* left, const T* right, std::int64_t depth, Sum* c, std::int64_t ldc, std::int64_t rows,
                     Finish finish, Ahead ahead = {}) {
  const auto tiles_of = [&]<int kUsed>() {
    for (; rows >= kUsed; rows -= kUsed, left += kUsed, c += kUsed * ldc) {
      multiply_tile<kUsed, isa>(PackedRows<isa, T>{left}, right, depth, c, ldc, finish, ahead);
    }
  };
  tiles_of.template operator()<RegisterTile<isa, T>::kRows>();
  if constexpr (RegisterTile<isa, T>::kRows > 8) tiles_of.template operator()<8>();
  tiles_of.template operator()<4>();
  tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
}

/// The same for `rows` rows in place, evenly in as few tiles as possible. Returns the updated `ahead`.
template <Isa isa, typename T, typename Sum, typename Finish, typename Ahead>
Ahead multiply_placed(PlacedRows<T> left, const T* right, std::int64_t depth, Sum* c, std::int64_t ldc,
                      std::int64_t rows, Finish finish, Ahead ahead) {
  constexpr std::int64_t kTallest = RegisterTile<isa, T>::kPlacedRows;
  const std::int64_t tiles = (rows + kTallest - 1) / kTallest;
  const std::int64_t even = ((rows + tiles - 1) / tiles + 1) / 2 * 2;
  const auto tiles_of = [&]<int kUsed>() {
    if constexpr (kUsed <= kTallest) {
      for (; rows >= kUsed && kUsed <= even; rows -= kUsed, left.at += kUsed * left.stride, c += kUsed * ldc) {
        multiply_tile<kUsed, isa>(PlacedTile<T, kUsed>(left), right, depth, c, ldc, finish, ahead);
        ahead.skip(left.runs * (depth / kDepthUnroll));
      }
    }
  };
  [&]<int... half>(std::integer_sequence<int, half...>) { (tiles_of.template operator()<14 - 2 * half>(), ...); }
  (std::make_integer_sequence<int, 7>());
  tiles_of.template operator()<1>();
  return ahead;
}

/// The same for any number of rows, whose panels are `stride` steps apart. Prefetches two panels ahead, because
/// another core may have packed them and still hold their lines.
template <Isa isa, typename T, typename Sum, typename Finish>
void multiply_rows(const T* left, std::int64_t stride, const T* right, std::int64_t depth, Sum* c, std::int64_t ldc,
                   std::int64_t rows, Finish finish) {
  constexpr std::int64_t kRows = RegisterTile<isa, T>::kRows;
  constexpr std::int64_t kBytes = kRows * kDepthUnroll * std::int64_t{sizeof(T)};
  for (; rows > 0; rows -= kRows, left += kRows * stride, c += kRows * ldc) {
    const AskAhead<isa, (kBytes + 63) / 64> ahead{reinterpret_cast<const char*>(left + 2 * kRows * stride), kBytes};
    multiply_panels<isa>(left, right, depth, c, ldc, rows < kRows ? rows : kRows, finish, ahead);
  }
}

}  // namespace roofline
