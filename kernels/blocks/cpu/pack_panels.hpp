// Packs operands into the panels that register_tile.hpp multiplies: along k, the factors of several rows or columns.
// 16-bit elements are widened or paired while packing, 8-bit integers paired or grouped in fours. Include only in
// *.simd.cpp files.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/blocks/cpu/convert.hpp"
#include "kernels/blocks/cpu/factor_vectors.hpp"

namespace roofline {

/// Consecutive elements in their compute type: unchanged, or 16-bit elements widened into `copy`.
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
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Lanes [[gnu::vector_size(16)]] = Word;
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

/// Four rows of 32-bit factors, a register of each at a time: 4 x 4 of them are transposed within 16 bytes, which
/// gives four neighbours of the panel. Returns the number of steps done: whole registers.
template <int kWidth, Isa isa, typename T>
std::int64_t pack_four(const T* const* rows, std::int64_t count, T* to) {
  constexpr int kLanes = kVectorBytes / 4;
  using Wide [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
  using Four [[gnu::vector_size(16)]] = std::uint32_t;
  // Within 16 bytes: the first two elements of a and b alternating, or the last two; the first two of each, or the
  // last two.
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

/// A panel of kWidth rows along k: to[p * kWidth + i] = rows[i][p]. 64 steps of all rows before the next 64, so
/// that their lines of the panel are still in L1.
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
      if constexpr (sizeof(T) == 4) {
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

/// The same in pairs; the last one is padded with zero if k is odd.
template <int kWidth, Isa isa>
void pack_across(const Bf16* const* rows, std::int64_t depth, Bf16Pair* to) {
  const Bf16Pair* pairs[kWidth];
  for (int i = 0; i < kWidth; ++i) pairs[i] = reinterpret_cast<const Bf16Pair*>(rows[i]);
  pack_across<kWidth, isa>(pairs, depth / 2, to);
  if (depth % 2 == 0) return;
  for (int i = 0; i < kWidth; ++i) to[depth / 2 * kWidth + i] = {rows[i][depth - 1], Bf16{}};
}

/// 8-bit integers as factors, zero-padded.
template <int kWidth, Isa isa>
void pack_across(const std::int8_t* const* rows, std::int64_t depth, Int16Pair* to) {
  constexpr std::int64_t kChunk = 128;
  alignas(64) std::int16_t wide[kWidth * kChunk];
  for (std::int64_t p = 0; p < depth; p += kChunk) {
    const std::int64_t count = depth - p < kChunk ? depth - p : kChunk;
    const Int16Pair* wide_rows[kWidth];
    for (int i = 0; i < kWidth; ++i) {
      std::int16_t* row = wide + i * kChunk;
      for (std::int64_t e = 0; e < count; ++e) row[e] = rows[i][p + e];
      if (count % 2 != 0) row[count] = 0;
      wide_rows[i] = reinterpret_cast<const Int16Pair*>(row);
    }
    pack_across<kWidth, isa>(wide_rows, steps_of<Int16Pair>(count), to + p / 2 * kWidth);
  }
}
template <int kWidth, Isa isa>
void pack_across(const std::int8_t* const* rows, std::int64_t depth, Int8Quad* to) {
  const Int8Quad* quads[kWidth];
  for (int i = 0; i < kWidth; ++i) quads[i] = reinterpret_cast<const Int8Quad*>(rows[i]);
  pack_across<kWidth, isa>(quads, depth / 4, to);
  if (depth % 4 == 0) return;
  for (int i = 0; i < kWidth; ++i) {
    Int8Quad last{};
    std::memcpy(&last, rows[i] + depth / 4 * 4, static_cast<std::size_t>(depth % 4));
    to[depth / 4 * kWidth + i] = last;
  }
}

/// Two rows in which each element is paired with the one below, `count` of them. `second` is null if k ends with
/// `first`.
template <Isa isa>
void pair_rows(const Bf16* first, const Bf16* second, std::int64_t count, Bf16Pair* to) {
  constexpr std::int64_t kLanes = kVectorBytes / 4;
  using Elements [[gnu::vector_size(kVectorBytes / 2)]] = std::uint16_t;
  std::int64_t i = 0;
  for (; second != nullptr && i + kLanes <= count; i += kLanes) {
    Elements above, below;
    std::memcpy(&above, first + i, sizeof above);
    std::memcpy(&below, second + i, sizeof below);
    const WideBits pairs = __builtin_convertvector(above, WideBits) | __builtin_convertvector(below, WideBits) << 16;
    std::memcpy(to + i, &pairs, sizeof pairs);
  }
  for (; i < count; ++i) to[i] = {first[i], second == nullptr ? Bf16{} : second[i]};
}

/// A panel of `count` columns, at most kWidth, each step of k a row of `from`, zero-padded.
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

/// The same in pairs: each element with the one below, or a zero.
template <int kWidth, Isa isa>
void pack_along(const Bf16* from, std::int64_t stride, std::int64_t depth, std::int64_t count, Bf16Pair* to) {
  for (std::int64_t p = 0; p < depth; p += 2, from += 2 * stride, to += kWidth) {
    pair_rows<isa>(from, p + 1 < depth ? from + stride : nullptr, count, to);
    for (std::int64_t i = count; i < kWidth; ++i) to[i] = {};
  }
}

/// `rows` rows, `stride` apart, as panels; the last panel is filled with copies of the last row. `first_sums` steps
/// are left out before each.
template <int kWidth, Isa isa, typename T, typename Factor>
void pack_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Factor* to,
               std::int64_t first_sums = 0) {
  for (std::int64_t first = 0; first < rows; first += kWidth) {
    const T* panel[kWidth];
    for (std::int64_t i = 0; i < kWidth; ++i) panel[i] = from + (first + i < rows ? first + i : rows - 1) * stride;
    to += first_sums * kWidth;
    pack_across<kWidth, isa>(panel, depth, to);
    to += kWidth * steps_of<Factor>(depth);
  }
}

}  // namespace roofline
