// The innermost loops of a matrix product, on vectors of the level that a *.simd.cpp is compiled for. Both operands are
// packed: a panel of the left one holds kRows elements for each step of the depth, a panel of the right one a tile's
// width of them, and a tile of the result stays in registers while the depth is walked. GEMM, convolution, attention
// and the product of 8-bit integers are made of it. Only for *.simd.cpp files.
#pragma once

#include <cstring>

#include "kernels/blocks/cpu/convert.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// The tile's extents: 24 sums of the 32 registers of AVX-512 and NEON, 12 of 16 elsewhere, beside a row of the right
/// operand and an element of the left one: twice to three times what hides the latency of a multiply-add. On an Emerald
/// Rapids 12 × 2, 14 × 2, 8 × 3 and 6 × 4 vectors were equally fast; the first leaves panels of 36 KiB for L1 the depth
/// to write a tile's sums back rarely.
template <Isa isa, typename T>
struct RegisterTile {
#if defined(__AVX512F__)
  static constexpr int kRows = 12;
  static constexpr int kVectors = 2;
#elif defined(__aarch64__)
  static constexpr int kRows = 6;
  static constexpr int kVectors = 4;
#else
  static constexpr int kRows = 6;
  static constexpr int kVectors = 2;
#endif
  static constexpr std::int64_t kColumns = kVectors * Vector<isa, T>::kLanes;
};

/// What becomes of a vector of sums: `to` is where it belongs.
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

/// One tile of kUsed of a panel's rows. Not inlined: within a larger function its addresses no longer fit the registers
/// (a tenth slower). The result is asked for as it begins, and read when the sums are there.
template <int kUsed, Isa isa, typename T, typename Finish>
[[gnu::noinline]] void multiply_tile(const T* left, const T* right, std::int64_t depth, T* c, std::int64_t ldc,
                                     Finish finish) {
  using V = Vector<isa, T>;
  constexpr int kVectors = RegisterTile<isa, T>::kVectors;
  constexpr std::int64_t kRows = RegisterTile<isa, T>::kRows;
  constexpr std::int64_t kColumns = RegisterTile<isa, T>::kColumns;
  typename V::Packet sums[kUsed][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
    __builtin_prefetch(c + i * ldc + kColumns - 1);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = V::all(T{});
  }
  const auto add_products = [&](const T* a, const T* b) {
    typename V::Packet row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kUsed; ++i) {
      const auto factor = V::all(a[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = V::multiply_add(factor, row[v], sums[i][v]);
    }
  };
  constexpr std::int64_t kUnroll = 4;
  std::int64_t p = 0;
  for (; p + kUnroll <= depth; p += kUnroll, left += kUnroll * kRows, right += kUnroll * kColumns) {
#pragma GCC unroll 4
    for (std::int64_t u = 0; u < kUnroll; ++u) add_products(left + u * kRows, right + u * kColumns);
  }
  for (; p < depth; ++p, left += kRows, right += kColumns) add_products(left, right);
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) finish.template put<V>(sums[i][v], c + i * ldc + v * V::kLanes, v);
  }
}

/// A tile of up to kRows rows of a left panel, and all of a right one.
template <Isa isa, typename T, typename Finish>
void multiply_panels(const T* left, const T* right, std::int64_t depth, T* c, std::int64_t ldc, std::int64_t rows,
                     Finish finish) {
  const auto tiles_of = [&]<int kUsed>() {
    for (; rows >= kUsed; rows -= kUsed, left += kUsed, c += kUsed * ldc) {
      multiply_tile<kUsed, isa>(left, right, depth, c, ldc, finish);
    }
  };
  tiles_of.template operator()<RegisterTile<isa, T>::kRows>();
  tiles_of.template operator()<4>();
  tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
}

/// The same for any number of rows, whose panels lie `stride` steps apart.
template <Isa isa, typename T, typename Finish>
void multiply_rows(const T* left, std::int64_t stride, const T* right, std::int64_t depth, T* c, std::int64_t ldc,
                   std::int64_t rows, Finish finish) {
  constexpr std::int64_t kRows = RegisterTile<isa, T>::kRows;
  for (; rows > 0; rows -= kRows, left += kRows * stride, c += kRows * ldc) {
    multiply_panels<isa>(left, right, depth, c, ldc, rows < kRows ? rows : kRows, finish);
  }
}

/// Elements that follow each other, as what they are computed in: themselves, or those of 16 bits widened into `copy`.
template <Isa isa, typename T>
const Computed<T>* values_at(const T* from, Computed<T>* copy, std::int64_t count) {
  if constexpr (kSmallFloat<T>) {
    converters<isa, T>().widen(from, copy, count);
    return copy;
  } else {
    return from;
  }
}

/// A panel of kWidth rows that lie along the depth: to[p * kWidth + i] = rows[i][p]. Two rows at a time, for two
/// elements side by side are what any level stores at once.
template <int kWidth, Isa isa, typename T>
void pack_across(const T* const* rows, std::int64_t depth, Computed<T>* to) {
  if constexpr (kSmallFloat<T>) {
    constexpr std::int64_t kChunk = 64;
    alignas(64) Computed<T> wide[kWidth * kChunk];
    const Computed<T>* wide_rows[kWidth];
    for (std::int64_t p = 0; p < depth; p += kChunk) {
      const std::int64_t count = depth - p < kChunk ? depth - p : kChunk;
      for (int i = 0; i < kWidth; ++i) wide_rows[i] = values_at<isa>(rows[i] + p, wide + i * kChunk, count);
      pack_across<kWidth, isa>(wide_rows, count, to + p * kWidth);
    }
  } else {
    static_assert(kWidth % 2 == 0);
    constexpr std::int64_t kLanes = 16 / sizeof(T);
    using Lanes [[gnu::vector_size(16)]] = T;
    for (int i = 0; i < kWidth; i += 2) {
      const T* first = rows[i];
      const T* second = rows[i + 1];
      T* out = to + i;
      std::int64_t p = 0;
      for (; p + kLanes <= depth; p += kLanes, out += kLanes * kWidth) {
        Lanes a, b;
        std::memcpy(&a, first + p, sizeof a);
        std::memcpy(&b, second + p, sizeof b);
        if constexpr (kLanes == 4) {
          const Lanes pairs[2] = {__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)};
          for (int pair = 0; pair < 4; ++pair) {
            std::memcpy(out + pair * kWidth, reinterpret_cast<const char*>(pairs) + pair * 8, 8);
          }
        } else {
          const Lanes pairs[2] = {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
          for (int pair = 0; pair < 2; ++pair) std::memcpy(out + pair * kWidth, pairs + pair, 16);
        }
      }
      for (; p < depth; ++p, out += kWidth) {
        out[0] = first[p];
        out[1] = second[p];
      }
    }
  }
}

/// A panel of `count` columns, at most kWidth, each step of the depth a row of `from`: zeros behind them.
template <int kWidth, Isa isa, typename T>
void pack_along(const T* from, std::int64_t stride, std::int64_t depth, std::int64_t count, Computed<T>* to) {
  using V = Vector<isa, T>;
  for (std::int64_t p = 0; p < depth; ++p, from += stride, to += kWidth) {
    if constexpr (kWidth % V::kLanes == 0) {
      if (count == kWidth) {
        for (std::int64_t i = 0; i < kWidth; i += V::kLanes) {
          V::store_values(to + i, V::load(from + i));
        }
        continue;
      }
    }
    for (std::int64_t i = 0; i < kWidth; ++i) to[i] = i < count ? V::get(from + i) : Computed<T>{};
  }
}

}  // namespace roofline
