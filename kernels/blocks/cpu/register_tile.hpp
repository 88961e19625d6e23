// The innermost loops of a matrix product, on vectors of the level that a *.simd.cpp is compiled for. Both operands are
// packed: a panel of the left one holds kRows elements for each step of the depth, a panel of the right one a tile's
// width of them, and a tile of the result stays in registers while the depth is walked. GEMM, convolution, attention
// and the product of 8-bit integers are made of it. Only for *.simd.cpp files.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/blocks/cpu/convert.hpp"
#include "kernels/blocks/cpu/vector.hpp"
#include "model/names.hpp"

namespace roofline {

/// The tile's extents: 24 sums of the 32 registers of AVX-512 and NEON, 12 of 16 elsewhere, beside a row of the right
/// operand and an element of the left one: twice to three times what hides the latency of a multiply-add. On an Emerald
/// Rapids 12 × 2, 14 × 2, 8 × 3 and 6 × 4 vectors were equally fast. kPanelLevel is where a panel of the right operand
/// waits for its next tile: cores with AVX-512 read it from L2 as fast as they need it, so that it can be deep, and
/// sums are written back rarely (docs/evidence/peers-cpu.md).
template <Isa isa, typename T>
struct RegisterTile {
#if defined(__AVX512F__)
  static constexpr int kRows = 12;
  static constexpr int kVectors = 2;
  static constexpr Level kPanelLevel = Level::l2;
#elif defined(__aarch64__)
  static constexpr int kRows = 6;
  static constexpr int kVectors = 4;
  static constexpr Level kPanelLevel = Level::l1;
#else
  static constexpr int kRows = 6;
  static constexpr int kVectors = 2;
  static constexpr Level kPanelLevel = Level::l1;
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

/// Steps of the depth that a tile's loop takes at once.
inline constexpr std::int64_t kDepthUnroll = 4;

/// What a tile asks for while it walks the depth, into L2: `bytes` further on every kDepthUnroll steps.
template <Isa isa>
struct AskAhead {
  const char* at;
  std::int64_t bytes;

  void next() {
    __builtin_prefetch(at, 0, 2);
    at += bytes;
  }
};
template <Isa isa>
struct AskNothing {
  void next() {}
};

/// One tile of kUsed of a panel's rows. Not inlined: within a larger function its addresses no longer fit the registers
/// (a tenth slower). The result is asked for as it begins, and read when the sums are there.
template <int kUsed, Isa isa, typename T, typename Finish, typename Ahead>
[[gnu::noinline]] void multiply_tile(const T* left, const T* right, std::int64_t depth, T* c, std::int64_t ldc,
                                     Finish finish, Ahead ahead) {
  using V = Vector<isa, T>;
  constexpr int kVectors = RegisterTile<isa, T>::kVectors;
  constexpr std::int64_t kRows = RegisterTile<isa, T>::kRows;
  constexpr std::int64_t kColumns = RegisterTile<isa, T>::kColumns;
  typename V::Packet sums[kUsed][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      __builtin_prefetch(c + i * ldc + (v + 1) * V::kLanes - 1);
      sums[i][v] = V::all(T{});
    }
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
  std::int64_t p = 0;
  for (; p + kDepthUnroll <= depth; p += kDepthUnroll, left += kDepthUnroll * kRows, right += kDepthUnroll * kColumns) {
    ahead.next();
#pragma GCC unroll 4
    for (std::int64_t u = 0; u < kDepthUnroll; ++u) add_products(left + u * kRows, right + u * kColumns);
  }
  for (; p < depth; ++p, left += kRows, right += kColumns) add_products(left, right);
#pragma GCC unroll 16
  for (int i = 0; i < kUsed; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) finish.template put<V>(sums[i][v], c + i * ldc + v * V::kLanes, v);
  }
}

/// A tile of up to kRows rows of a left panel, and all of a right one.
template <Isa isa, typename T, typename Finish, typename Ahead = AskNothing<isa>>
void multiply_panels(const T* left, const T* right, std::int64_t depth, T* c, std::int64_t ldc, std::int64_t rows,
                     Finish finish, Ahead ahead = {}) {
  const auto tiles_of = [&]<int kUsed>() {
    for (; rows >= kUsed; rows -= kUsed, left += kUsed, c += kUsed * ldc) {
      multiply_tile<kUsed, isa>(left, right, depth, c, ldc, finish, ahead);
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

/// Two rows of such a panel: to[p * kWidth] and its neighbour, for `count` steps.
template <int kWidth, Isa isa, typename T>
void pack_pair(const T* first, const T* second, std::int64_t count, T* to) {
  constexpr std::int64_t kLanes = 16 / sizeof(T);
  using Lanes [[gnu::vector_size(16)]] = T;
  std::int64_t p = 0;
  for (; p + kLanes <= count; p += kLanes, to += kLanes * kWidth) {
    Lanes a, b;
    std::memcpy(&a, first + p, sizeof a);
    std::memcpy(&b, second + p, sizeof b);
    if constexpr (kLanes == 4) {
      const Lanes pairs[2] = {__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)};
      for (int pair = 0; pair < 4; ++pair) {
        std::memcpy(to + pair * kWidth, reinterpret_cast<const char*>(pairs) + pair * 8, 8);
      }
    } else {
      const Lanes pairs[2] = {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
      for (int pair = 0; pair < 2; ++pair) std::memcpy(to + pair * kWidth, pairs + pair, 16);
    }
  }
  for (; p < count; ++p, to += kWidth) {
    to[0] = first[p];
    to[1] = second[p];
  }
}

/// Four rows of fp32, a register of each at a time: 4 x 4 elements are transposed within each 16 bytes of them, which
/// then are four neighbours of the panel. Returns how many steps it did: whole registers.
template <int kWidth, Isa isa>
std::int64_t pack_four(const float* const* rows, std::int64_t count, float* to) {
  constexpr int kLanes = kVectorBytes / 4;
  using Wide [[gnu::vector_size(kVectorBytes)]] = float;
  using Four [[gnu::vector_size(16)]] = float;
  // Within 16 bytes: the first two of a and b in turn, or the last two; the first two of each, or the last two.
  const auto mix = []<int... l>(Wide a, Wide b, std::integer_sequence<int, l...>, auto half, auto pairs) {
    constexpr int h = decltype(half)::value;
    if constexpr (decltype(pairs)::value) {
      return Wide(__builtin_shufflevector(a, b, (l / 4 * 4 + 2 * h + l % 2 + (l % 4 >= 2 ? kLanes : 0))...));
    } else {
      return Wide(__builtin_shufflevector(a, b, (l / 4 * 4 + 2 * h + l % 4 / 2 + (l % 2 == 1 ? kLanes : 0))...));
    }
  };
  constexpr auto lanes = std::make_integer_sequence<int, kLanes>();
  using First = std::integral_constant<int, 0>;
  using Second = std::integral_constant<int, 1>;
  std::int64_t p = 0;
  for (; p + kLanes <= count; p += kLanes) {
    Wide row[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&row[i], rows[i] + p, sizeof row[i]);
    const Wide low[] = {mix(row[0], row[1], lanes, First(), std::false_type()),
                        mix(row[2], row[3], lanes, First(), std::false_type())};
    const Wide high[] = {mix(row[0], row[1], lanes, Second(), std::false_type()),
                         mix(row[2], row[3], lanes, Second(), std::false_type())};
    const Wide step[] = {mix(low[0], low[1], lanes, First(), std::true_type()),
                         mix(low[0], low[1], lanes, Second(), std::true_type()),
                         mix(high[0], high[1], lanes, First(), std::true_type()),
                         mix(high[0], high[1], lanes, Second(), std::true_type())};
    const auto put = [&]<int... part>(std::integer_sequence<int, part...>) {
      const auto one = [&]<int from>(std::integral_constant<int, from>) {
        for (int s = 0; s < 4; ++s) {
          const Four four = __builtin_shufflevector(step[s], step[s], from, from + 1, from + 2, from + 3);
          std::memcpy(to + (p + from + s) * kWidth, &four, sizeof four);
        }
      };
      (one(std::integral_constant<int, 4 * part>()), ...);
    };
    put(std::make_integer_sequence<int, kLanes / 4>());
  }
  return p;
}

/// A panel of kWidth rows that lie along the depth: to[p * kWidth + i] = rows[i][p]. 64 steps of all rows before the
/// next, so that their lines of the panel are still in L1.
template <int kWidth, Isa isa, typename T>
void pack_across(const T* const* rows, std::int64_t depth, Computed<T>* to) {
  constexpr std::int64_t kChunk = 64;
  if constexpr (kSmallFloat<T>) {
    alignas(64) Computed<T> wide[kWidth * kChunk];
    const Computed<T>* wide_rows[kWidth];
    for (std::int64_t p = 0; p < depth; p += kChunk) {
      const std::int64_t count = depth - p < kChunk ? depth - p : kChunk;
      for (int i = 0; i < kWidth; ++i) wide_rows[i] = values_at<isa>(rows[i] + p, wide + i * kChunk, count);
      pack_across<kWidth, isa>(wide_rows, count, to + p * kWidth);
    }
  } else {
    static_assert(kWidth % 2 == 0);
    for (std::int64_t p = 0; p < depth; p += kChunk) {
      const std::int64_t count = depth - p < kChunk ? depth - p : kChunk;
      int i = 0;
      if constexpr (std::is_same_v<T, float>) {
        for (; i + 4 <= kWidth; i += 4) {
          const T* four[] = {rows[i] + p, rows[i + 1] + p, rows[i + 2] + p, rows[i + 3] + p};
          T* panel = to + p * kWidth + i;
          const std::int64_t done = pack_four<kWidth, isa>(four, count, panel);
          if (done == count) continue;
          for (int pair = 0; pair < 4; pair += 2) {
            pack_pair<kWidth, isa>(four[pair] + done, four[pair + 1] + done, count - done,
                                   panel + done * kWidth + pair);
          }
        }
      }
      for (; i < kWidth; i += 2) pack_pair<kWidth, isa>(rows[i] + p, rows[i + 1] + p, count, to + p * kWidth + i);
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
