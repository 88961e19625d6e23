// The vector kernels of layer norm and RMS norm: a row's moments are summed in one sweep, while the row before is
// normalised and stored. A block's are taken about the mean of what came before it, so that little cancels: of the
// first block about the mean of four vectors, which costs four bits at worst; at most half of the squares that the
// second block adds, and less of each later one's.
#include "kernels/blocks/cpu/normalise_rows.hpp"

#include <cmath>

#include "kernels/blocks/cpu/row_pipeline.hpp"

namespace roofline {
namespace {

template <typename T, bool centred>
struct Normalise {
  using V = Vector<kIsa, T>;
  using Value = Computed<T>;
  using Packet = typename V::Packet;

  const T* gamma;
  const T* beta;
  Value epsilon;
  // Of the row that is gathered: its mean so far, or 0, and the squares of the distances from it.
  Value centre = 0;
  Value squares = 0;
  // Of a block: the distances from `centres`, and their squares.
  Packet centres = V::all(0);
  Packet distance_sums = V::all(0);
  Packet square_sums = V::all(0);
  // Of the row that is emitted.
  Packet means = V::all(0);
  Packet scales = V::all(0);

  void begin_row(const T* in, std::int64_t columns) {
    if (!centred) return;
    constexpr std::int64_t kFirst = 4 * V::kLanes;  // all of the block would be read while nothing is written
    const std::int64_t count = columns < kFirst ? columns : kFirst;
    Packet sum = V::all(0);
    for_vectors<kIsa, T, false, 1>(count, [&](const auto& where) { sum = V::add(sum, where[0].load(in)); });
    centre = V::sum(sum) / static_cast<Value>(count);
    centres = V::all(centre);
  }
  Value rest() const { return centre; }
  template <std::size_t n>
  void gather(const auto&, const Packet (&a)[n], std::int64_t) {
    for (std::size_t i = 0; i < n; ++i) {
      const Packet distance = centred ? V::subtract(a[i], centres) : a[i];
      if (centred) distance_sums = V::add(distance_sums, distance);
      square_sums = V::multiply_add(distance, distance, square_sums);
    }
  }
  bool end_block(const T*, std::int64_t first, std::int64_t count) {
    const Value distances = V::sum(distance_sums);
    const Value shift = distances / static_cast<Value>(first + count);
    squares += V::sum(square_sums) - shift * distances;
    centre += shift;
    centres = V::all(centre);
    distance_sums = square_sums = V::all(0);
    return true;
  }
  void end_row(std::int64_t columns) {
    means = V::all(centre);
    scales = V::all(1 / std::sqrt(squares / static_cast<Value>(columns) + epsilon));
    squares = 0;
  }
  void emit_block(std::int64_t) {}
  auto emit(auto where, const T* in, std::int64_t first) const {
    const auto value = where.load(in);
    const auto g = where.load(gamma + first);
    if constexpr (!centred) return V::multiply(V::multiply(value, scales), g);
    return V::multiply_add(V::multiply(V::subtract(value, means), scales), g, where.load(beta + first));
  }
};

}  // namespace

template <Isa isa, typename T>
void normalise_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                    double epsilon, bool streamed) {
  const auto added = static_cast<Computed<T>>(epsilon);
  if (beta == nullptr) {
    pipeline_rows<isa>(x, y, rows, columns, streamed, Normalise<T, false>{gamma, beta, added});
  } else {
    pipeline_rows<isa>(x, y, rows, columns, streamed, Normalise<T, true>{gamma, beta, added});
  }
}

template void normalise_rows<kIsa, float>(const float*, const float*, const float*, float*, std::int64_t, std::int64_t,
                                          double, bool);
template void normalise_rows<kIsa, double>(const double*, const double*, const double*, double*, std::int64_t,
                                           std::int64_t, double, bool);
template void normalise_rows<kIsa, Fp16>(const Fp16*, const Fp16*, const Fp16*, Fp16*, std::int64_t, std::int64_t,
                                         double, bool);
template void normalise_rows<kIsa, Bf16>(const Bf16*, const Bf16*, const Bf16*, Bf16*, std::int64_t, std::int64_t,
                                         double, bool);

}  // namespace roofline
