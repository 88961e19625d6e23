// The innermost loops of a matrix product, on vectors of the level that a *.simd.cpp is compiled for: a tile of the
// result stays in registers while the depth is walked. Attention and convolution, which prepare their operands
// themselves, make their products of it. Only for *.simd.cpp files.
#pragma once

#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// The tile's extents: 24 sums of the 32 registers of AVX-512 and NEON, 12 of 16 elsewhere, beside a row of b and an
/// element of a. Enough to hide the latency of a multiply-add, with 10 loads for 24 of them (8 for 12).
template <Isa isa, typename T>
struct RegisterTile {
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr int kVectors = 4;
#else
  static constexpr int kVectors = 2;
#endif
  static constexpr int kRows = 6;
  static constexpr std::int64_t kColumns = kVectors * Vector<isa, T>::kLanes;
};

/// A matrix that is only read: element (i, p) lies at data[i * row_step + p * depth_step].
template <typename T>
struct StridedMatrix {
  const T* data;
  std::int64_t row_step, depth_step;
};

/// One tile. Not inlined: within a larger function its addresses no longer fit the registers (a tenth slower).
template <int kRows, Isa isa, typename T, typename Start>
[[gnu::noinline]] void multiply_tile(StridedMatrix<T> a, const T* b, std::int64_t depth, T* c, Start start) {
  using V = Vector<isa, T>;
  constexpr int kVectors = RegisterTile<isa, T>::kVectors;
  constexpr std::int64_t kColumns = RegisterTile<isa, T>::kColumns;
  typename V::Packet sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = start(V::load(c + i * kColumns + v * V::kLanes), v);
  }
  for (std::int64_t p = 0; p < depth; ++p, a.data += a.depth_step, b += kColumns) {
    typename V::Packet row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto factor = V::all(a.data[i * a.row_step]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = V::multiply_add(factor, row[v], sums[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) V::store(c + i * kColumns + v * V::kLanes, sums[i][v]);
  }
}

/// c = start(c) + a · b, with a[rows × depth], b[depth × kColumns] and c[rows × kColumns], the latter two row by row.
/// start(packet, v) gives what the sums of the v-th vector of a row begin with.
template <Isa isa, typename T, typename Start>
void multiply_rows(StridedMatrix<T> a, const T* b, T* c, std::int64_t rows, std::int64_t depth, Start start) {
  const auto tiles_of = [&]<int kRows>() {
    for (; rows >= kRows; rows -= kRows) {
      multiply_tile<kRows, isa>(a, b, depth, c, start);
      a.data += kRows * a.row_step;
      c += kRows * RegisterTile<isa, T>::kColumns;
    }
  };
  tiles_of.template operator()<RegisterTile<isa, T>::kRows>();
  tiles_of.template operator()<4>();
  tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
}

}  // namespace roofline
