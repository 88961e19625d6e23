// Row by row operations whose outputs need all of their row, on vectors of the level that a *.simd.cpp is compiled for:
// what the norms and softmax have in common. Only for *.simd.cpp files.
#pragma once

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

template <typename T>
constexpr std::int64_t kRowBlock = 1024 / sizeof(T);

/// Rows through a pipeline: while a row is gathered, block by block, the one before is emitted, so that memory reads
/// and writes all the time, as in a copy.
///   gather(row, first, count, meanwhile)  sums up a block of a row; calls `meanwhile`, which emits the same
///                                         block of the row before, where it would have to wait for something
///   finish()                              the row is gathered, and the one before it emitted
///   emit(row, first, count)               stores a block
/// Blocks are of 1 KiB. Rows that vectors don't fill are one block, for its borders are stored element by element.
template <Isa isa, typename T, typename Gather, typename Finish, typename Emit>
void pipeline_rows(std::int64_t rows, std::int64_t columns, Gather gather, Finish finish, Emit emit) {
  const std::int64_t block = columns % Vector<isa, T>::kLanes == 0 ? kRowBlock<T> : columns;
  for (std::int64_t row = 0; row <= rows; ++row) {
    for (std::int64_t first = 0; first < columns; first += block) {
      const std::int64_t count = columns - first < block ? columns - first : block;
      const auto meanwhile = [&] {
        if (row > 0) emit(row - 1, first, count);
      };
      if (row < rows) {
        gather(row, first, count, meanwhile);
      } else {
        meanwhile();
      }
    }
    if (row < rows) finish();
  }
}

/// How far ahead memory is asked for what comes next, as in the calibration's copy (stream.simd.cpp). Past the end
/// it does no harm.
template <typename T>
constexpr std::int64_t kAhead = 16384 / sizeof(T);

template <Isa isa, typename T>
void fetch_ahead(const T* x, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(x + kAhead<T> + i, 0, 2);
}

/// f(sum, values of x, index of the first) over packets; what is left past the last one as packets of equal elements,
/// of which one counts. Four sums at once: an addition takes 4 cycles.
template <Isa isa, typename T, typename F>
Computed<T> sum_of(const T* x, std::int64_t count, F f) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(0);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      const std::int64_t at = i + way * V::kLanes;
      sums[way] = f(sums[way], V::load(x + at), at);
    }
  }
  Computed<T> total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) total += Eigen::internal::pfirst(f(V::all(0), V::spread(x + i), i));
  return total;
}

/// y[i] = packet(i) where y is aligned, and the value one(i) at the borders. `streamed` stores go past the caches.
template <Isa isa, typename T, bool streamed, typename Packet, typename One>
void store_block(T* y, std::int64_t count, Packet packet, One one) {
  using V = Vector<isa, T>;
  std::int64_t i = 0;
  for (const std::int64_t head = V::misaligned(y); i < head && i < count; ++i) V::put(y + i, one(i));
  for (; i + V::kLanes <= count; i += V::kLanes) {
    if constexpr (streamed) {
      V::stream(y + i, packet(i));
    } else {
      V::store(y + i, packet(i));
    }
  }
  for (; i < count; ++i) V::put(y + i, one(i));
}

}  // namespace roofline
