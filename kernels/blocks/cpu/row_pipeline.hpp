// Row by row operations whose outputs need all of their row, on vectors of the level that a *.simd.cpp is compiled for:
// what the norms and softmax have in common. Only for *.simd.cpp files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/blocks/cpu/loads_ahead.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// Elements of a block.
template <typename T>
constexpr std::int64_t kRowBlock = 4096 / sizeof(T);

/// A vector's worth of a block, from its element `at` on. `streamed` stores go past the caches.
template <Isa isa, typename T, bool streamed>
struct WholeVector {
  using V = Vector<isa, T>;
  std::int64_t at;

  typename V::Packet load(const T* block, Computed<T> = 0) const { return V::load(block + at); }
  void store(T* block, typename V::Packet a) const {
    if constexpr (streamed) {
      V::stream(block + at, a);
    } else {
      V::store(block + at, a);
    }
  }
};

/// What is left of a row past the last whole one. Lanes behind the row are loaded as `rest`.
template <Isa isa, typename T>
struct PartOfVector {
  using V = Vector<isa, T>;
  std::int64_t at, count;

  typename V::Packet load(const T* block, Computed<T> rest = 0) const { return load_part<V>(block + at, count, rest); }
  void store(T* block, typename V::Packet a) const { store_part<V>(block + at, count, a); }
};

/// Calls visit(where) for all vectors of a block, kWays of them at once as long as there are so many.
template <Isa isa, typename T, bool streamed, std::size_t kWays, typename Visit>
void for_vectors(std::int64_t count, Visit visit) {
  using Whole = WholeVector<isa, T, streamed>;
  constexpr std::int64_t kLanes = Vector<isa, T>::kLanes;
  std::int64_t at = 0;
  const auto whole = [&]<std::size_t... way>(std::index_sequence<way...>) {
    for (; at + std::int64_t{sizeof...(way)} * kLanes <= count; at += std::int64_t{sizeof...(way)} * kLanes) {
      const Whole where[] = {{at + std::int64_t{way} * kLanes}...};
      visit(where);
    }
  };
  whole(std::make_index_sequence<kWays>());
  whole(std::make_index_sequence<1>());
  const PartOfVector<isa, T> rest[] = {{at, count - at}};
  if (at < count) visit(rest);
}

/// A block of a row is gathered, and the same one of the row before emitted.
template <Isa isa, bool streamed, bool gathers, bool emits, typename T, typename Op>
void pipeline_block(const T* in, T* out, std::int64_t columns, std::int64_t first, std::int64_t count, Op& op,
                    AskAheadOf<isa> ask_ahead) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  if constexpr (emits) op.emit_block(first);
  Op copy = op;  // which no store can change, so that it stays in registers
  for_vectors<isa, T, streamed, 2>(count, [&]<typename W, std::size_t n>(const W(&where)[n]) {
    // Loads come first: one whose address is that of a store but for whole pages would wait for it.
    typename V::Packet gathered[n], emitted[n];
    for (std::size_t i = 0; gathers && i < n; ++i) gathered[i] = where[i].load(in, op.rest());
    for (std::int64_t line = 0; gathers && line < std::int64_t{n} * V::kLanes; line += kLine) {
      ask_ahead(in + where[0].at + line);
    }
    for (std::size_t i = 0; emits && i < n; ++i) emitted[i] = copy.emit(where[i], in - columns, first);
    for (std::size_t i = 0; emits && i < n; ++i) where[i].store(out - columns, emitted[i]);
    if constexpr (gathers) copy.gather(where, gathered, first);
  });
  op = copy;
}

/// Rows of x to rows of y through a pipeline: while a row is gathered, the one before is emitted, two vectors of each
/// in turn, so that memory reads and writes all the time, as in a copy, and the arithmetic fills the waiting. (Softmax
/// emitted in blocks takes half as long again.) `op` has
///   begin_row(in, columns)         a row is to be gathered
///   gather(where, a, first)        vectors of its block that begins with element `first`; lanes behind it are rest()
///   end_block(in, first, count)    whether the block is gathered, and need not be once more
///   end_row(columns)               the row is gathered, and the one before it emitted
///   emit_block(first)              a block of that row is to be emitted
///   emit(where, in, first)         a vector of it
template <Isa isa, bool streamed, typename T, typename Op>
void pipeline_rows(const T* x, T* y, std::int64_t rows, std::int64_t columns, Op op) {
  const AskAheadOf<isa> ask_ahead;
  for (std::int64_t row = 0; row <= rows; ++row, x += columns, y += columns) {
    if (row < rows) op.begin_row(x, columns);
    for (std::int64_t first = 0; first < columns; first += kRowBlock<T>) {
      const std::int64_t count = columns - first < kRowBlock<T> ? columns - first : kRowBlock<T>;
      const T* in = x + first;
      T* out = y + first;
      if (row == 0) {
        pipeline_block<isa, streamed, true, false>(in, out, columns, first, count, op, ask_ahead);
      } else if (row < rows) {
        pipeline_block<isa, streamed, true, true>(in, out, columns, first, count, op, ask_ahead);
      } else {
        pipeline_block<isa, streamed, false, true>(in, out, columns, first, count, op, ask_ahead);
      }
      if (row < rows && !op.end_block(in, first, count)) {
        pipeline_block<isa, streamed, true, false>(in, out, columns, first, count, op, ask_ahead);
        op.end_block(in, first, count);
      }
    }
    if (row < rows) op.end_row(columns);
  }
  if (streamed) Vector<isa, T>::fence();
}

/// The same with stores past the caches where `streamed` says so and rows of y can be stored so: whole vectors, and
/// aligned ones.
template <Isa isa, typename T, typename Op>
void pipeline_rows(const T* x, T* y, std::int64_t rows, std::int64_t columns, bool streamed, const Op& op) {
  using V = Vector<isa, T>;
  if (streamed && columns % V::kLanes == 0 && misaligned<V>(y) == 0) {
    pipeline_rows<isa, true>(x, y, rows, columns, op);
  } else {
    pipeline_rows<isa, false>(x, y, rows, columns, op);
  }
}

}  // namespace roofline
