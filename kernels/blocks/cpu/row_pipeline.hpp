// Row operations whose outputs depend on the whole row, on vectors of the level of a *.simd.cpp: common to the norms
// and softmax. Include only in *.simd.cpp files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/blocks/cpu/loads_ahead.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// Elements of a block.
template <typename T>
constexpr std::int64_t kRowBlock = 4096 / sizeof(T);

/// A vector of a block, from its element `at` on. `streamed` stores are non-temporal.
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

/// The rest of a row after the last whole vector. Lanes past the row are loaded as `rest`.
template <Isa isa, typename T>
struct PartOfVector {
  using V = Vector<isa, T>;
  std::int64_t at, count;

  typename V::Packet load(const T* block, Computed<T> rest = 0) const { return load_part<V>(block + at, count, rest); }
  void store(T* block, typename V::Packet a) const { store_part<V>(block + at, count, a); }
};

/// Calls visit(where) for all vectors of a block, kWays of them at once while there are enough. Always inlined,
/// because accumulators that `visit` refers to would go through memory otherwise.
template <Isa isa, typename T, bool streamed, std::size_t kWays, typename Visit>
[[gnu::always_inline]] inline void for_vectors(std::int64_t count, Visit visit) {
  using Whole = WholeVector<isa, T, streamed>;
  constexpr std::int64_t kLanes = Vector<isa, T>::kLanes;
  std::int64_t at = 0;
  const auto whole = [&]<std::size_t... way>(std::index_sequence<way...>) __attribute__((always_inline)) {
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

/// A block of a row: its start in x and in y, and its first element in the row.
template <typename T>
struct RowBlock {
  const T* in;
  T* out;
  std::int64_t first, count;

  RowBlock after(std::int64_t elements) const {
    return {in + elements, out + elements, first + elements, count - elements};
  }
};

/// Gathers the first `count` elements of one block and emits those of another.
template <Isa isa, bool streamed, bool gathers, bool emits, typename T, typename Op>
[[gnu::always_inline]] inline void pipeline_vectors(RowBlock<T> gathered, RowBlock<T> emitted, std::int64_t count,
                                                    Op& op, AskAheadOf<isa, Op::kReadsAgain> ask_ahead) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  // Local copies, which no store can alias, stay in registers.
  auto gather = op.gathering(gathered.first);
  const auto emit = op.emitting(emitted.first);
  for_vectors<isa, T, streamed, 2>(
      count, [&]<typename W, std::size_t n>(const W(&where)[n]) __attribute__((always_inline)) {
        // Loads come first: a load whose address equals a pending store's modulo 4 KiB would wait for it.
        typename V::Packet in[n], out[n];
        for (std::size_t i = 0; gathers && i < n; ++i) in[i] = where[i].load(gathered.in, op.rest());
        for (std::int64_t line = 0; gathers && line < std::int64_t{n} * V::kLanes; line += kLine) {
          ask_ahead(gathered.in + where[0].at + line);
        }
        for (std::size_t i = 0; emits && i < n; ++i) out[i] = emit(where[i], emitted.in);
        for (std::size_t i = 0; emits && i < n; ++i) where[i].store(emitted.out, out[i]);
        if constexpr (gathers) gather(where, in);
      });
  if constexpr (gathers) op.take(gather);
}

/// Gathers one block and emits another; either may be empty.
template <Isa isa, bool streamed, typename T, typename Op>
[[gnu::always_inline]] inline void pipeline_blocks(const RowBlock<T>& gathered, const RowBlock<T>& emitted, Op& op,
                                                   AskAheadOf<isa, Op::kReadsAgain> ask_ahead) {
  std::int64_t both = std::min(gathered.count, emitted.count);
  if (gathered.count != emitted.count) both -= both % Vector<isa, T>::kLanes;
  const RowBlock<T> gathered_alone = gathered.after(both);
  const RowBlock<T> emitted_alone = emitted.after(both);
  if (both > 0) pipeline_vectors<isa, streamed, true, true>(gathered, emitted, both, op, ask_ahead);
  if (gathered_alone.count > 0) {
    pipeline_vectors<isa, streamed, true, false>(gathered_alone, emitted, gathered_alone.count, op, ask_ahead);
  }
  if (emitted_alone.count > 0) {
    pipeline_vectors<isa, streamed, false, true>(gathered, emitted_alone, emitted_alone.count, op, ask_ahead);
  }
}

constexpr std::int64_t kMostBandRows = 12;

/// Rows of a band: as many as L2 holds besides the next band, and few relative to all rows, because nothing is
/// stored while the first band is gathered. One if a row is one block, which then stays in L1 with everything that
/// it is emitted with.
template <typename T>
std::int64_t band_rows(std::int64_t rows, std::int64_t columns) {
  if (columns <= kRowBlock<T>) return 1;
  constexpr std::int64_t kBandBytes = 192 * 1024;
  constexpr std::int64_t kFewestBands = 16;
  const std::int64_t held = kBandBytes / (columns * std::int64_t{sizeof(T)});
  return std::clamp<std::int64_t>(std::min(held, rows / kFewestBands), 1, kMostBandRows);
}

/// Elements of blocks of nearly equal size for a whole row, so that gathering one takes as long as emitting
/// another; in whole lines.
template <typename T>
std::int64_t even_block(std::int64_t columns) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const std::int64_t blocks = (columns + kRowBlock<T> - 1) / kRowBlock<T>;
  return (columns + blocks * kLine - 1) / (blocks * kLine) * kLine;
}

/// Rows of x to rows of y through a pipeline: while a band of rows is gathered, the previous one is emitted, two
/// vectors of each alternating, so that memory reads and writes continuously, as in a copy, and arithmetic fills
/// the waits. (Emitting softmax in blocks takes half as long again.) Rows are gathered one after the other, in
/// memory order, but emitted a block of all rows at a time, so that shared data such as a norm's weights is in L1
/// for all rows but the first. `op` provides
///   kReadsAgain                    whether it is emitted from x, in bands; otherwise row by row
///   begin_band()                   the gathered band will be emitted
///   begin_row(in, columns)         a row will be gathered
///   gathering(first)               gathers elements from `first` on: f(where, a) takes vectors of them
///   rest()                         value of lanes past the row
///   take(f)                        accepts the elements that f took
///   end_block(in, first, count)    whether the block is complete and need not be gathered again
///   end_row(row, columns)          row `row` of the band is gathered
///   emit_block(row, first)         a block of that row of the previous band will be emitted
///   emitting(first)                emits elements from `first` on: f(where, in) is a vector of them
template <Isa isa, bool streamed, typename T, typename Op>
void pipeline_rows(const T* x, T* y, std::int64_t rows, std::int64_t columns, Op op) {
  const AskAheadOf<isa, Op::kReadsAgain> ask_ahead;
  const std::int64_t band = Op::kReadsAgain ? band_rows<T>(rows, columns) : 1;
  const std::int64_t block = Op::kReadsAgain ? even_block<T>(columns) : kRowBlock<T>;
  const auto block_of = [&](std::int64_t row, std::int64_t first) -> RowBlock<T> {
    const std::int64_t at = row * columns + first;
    return {x + at, y + at, first, std::min(columns - first, block)};
  };
  const RowBlock<T> none{x, y, 0, 0};
  for (std::int64_t first = 0; first < rows + band; first += band) {
    const std::int64_t gathers = std::clamp<std::int64_t>(rows - first, 0, band);
    const std::int64_t emits = first == 0 ? 0 : std::min(rows - (first - band), band);
    op.begin_band();
    std::int64_t in_row = 0, in_first = 0;                          // row by row
    std::int64_t out_row = 0, out_first = emits > 0 ? 0 : columns;  // block by block
    while (in_row < gathers || out_first < columns) {
      const RowBlock<T> in = in_row < gathers ? block_of(first + in_row, in_first) : none;
      const RowBlock<T> out = out_first < columns ? block_of(first - band + out_row, out_first) : none;
      if (in.count > 0 && in_first == 0) op.begin_row(in.in, columns);
      if (out.count > 0) op.emit_block(out_row, out_first);
      pipeline_blocks<isa, streamed>(in, out, op, ask_ahead);
      if (in.count > 0) {
        if (!op.end_block(in.in, in_first, in.count)) {
          pipeline_blocks<isa, streamed>(in, none, op, ask_ahead);
          op.end_block(in.in, in_first, in.count);
        }
        in_first += in.count;
        if (in_first == columns) {
          op.end_row(in_row++, columns);
          in_first = 0;
        }
      }
      if (out.count > 0 && ++out_row == emits) {
        out_row = 0;
        out_first += out.count;
      }
    }
  }
  if (streamed) Vector<isa, T>::fence();
}

/// The same with non-temporal stores if `streamed` and rows of y allow them: whole and aligned vectors.
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
