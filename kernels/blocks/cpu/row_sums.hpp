// Row by row operations whose outputs need all of their row, on vectors of the level that a *.simd.cpp is compiled for:
// what the norms and softmax have in common. Only for *.simd.cpp files.
#pragma once

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

template <typename T>
constexpr std::int64_t kRowBlock = 1024 / sizeof(T);

/// A vector's worth of a row, from element `at` on. `streamed` stores go past the caches.
template <Isa isa, typename T, bool streamed>
struct WholeVector {
  using V = Vector<isa, T>;
  std::int64_t at;

  typename V::Packet load(const T* row, Computed<T> = 0) const { return V::load(row + at); }
  void store(T* row, typename V::Packet a) const {
    if constexpr (streamed) {
      V::stream(row + at, a);
    } else {
      V::store(row + at, a);
    }
  }
};

/// What is left of a row past the last whole one. Lanes behind the row are loaded as `rest`.
template <Isa isa, typename T>
struct PartOfVector {
  using V = Vector<isa, T>;
  std::int64_t at, count;

  typename V::Packet load(const T* row, Computed<T> rest = 0) const { return load_part<V>(row + at, count, rest); }
  void store(T* row, typename V::Packet a) const { store_part<V>(row + at, count, a); }
};

/// Rows through a pipeline: while a row is gathered, block by block, the one before is emitted, so that memory reads
/// and writes all the time, as in a copy.
///   gather(row, first, count, meanwhile)  sums up a block of a row; calls `meanwhile`, which emits the same
///                                         block of the row before, where it would have to wait for something
///   finish()                              the row is gathered, and the one before it emitted
///   emit(row, first, count)               stores a block
/// Blocks are of 1 KiB, and the last one may be shorter.
template <typename T, typename Gather, typename Finish, typename Emit>
void pipeline_rows(std::int64_t rows, std::int64_t columns, Gather gather, Finish finish, Emit emit) {
  constexpr std::int64_t block = kRowBlock<T>;
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

template <typename T>
void fetch_ahead(const T* x, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(x + kAhead<T> + i, 0, 2);
}

/// f(sum, values of x) over vectors; what is left past the last one is filled with `rest`, which must add nothing. Four
/// sums at once: an addition takes 4 cycles.
template <Isa isa, typename T, typename F>
Computed<T> sum_of(const T* x, std::int64_t count, F f, Computed<T> rest = 0) {
  using V = Vector<isa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(0);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) sums[way] = f(sums[way], V::load(x + i + way * V::kLanes));
  }
  for (; i + V::kLanes <= count; i += V::kLanes) sums[0] = f(sums[0], V::load(x + i));
  if (i < count) sums[0] = f(sums[0], load_part<V>(x + i, count - i, rest));
  return V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
}

/// Stores value(where) at every vector of a block.
template <Isa isa, bool streamed, typename T, typename Value>
void store_block(T* y, std::int64_t count, Value value) {
  constexpr std::int64_t kLanes = Vector<isa, T>::kLanes;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const WholeVector<isa, T, streamed> where{i};
    where.store(y, value(where));
  }
  if (i == count) return;
  const PartOfVector<isa, T> where{i, count - i};
  where.store(y, value(where));
}

/// Calls f.template operator()<streamed>(), for rows of y that can be stored so: past the caches go whole vectors, and
/// aligned ones.
template <Isa isa, typename T, typename F>
void with_stores(const T* y, std::int64_t columns, bool streamed, F f) {
  using V = Vector<isa, T>;
  if (streamed && columns % V::kLanes == 0 && misaligned<V>(y) == 0) {
    f.template operator()<true>();
    V::fence();
  } else {
    f.template operator()<false>();
  }
}

}  // namespace roofline
