// Vector kernels of layer norm and RMS norm: the moments of a row are summed while a row of the previous band is
// normalised and stored. Moments of a block are taken about the mean of the preceding blocks, to limit cancellation;
// for the first block about the mean of four vectors, which costs at most four bits: at most half of the squares
// that the second block adds, and less for later ones.
#include "kernels/blocks/cpu/normalise_rows.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/blocks/cpu/row_pipeline.hpp"

namespace roofline {
namespace {

template <typename T, bool centred>
struct Normalise {
  using V = Vector<kIsa, T>;
  using Value = Computed<T>;
  using Packet = typename V::Packet;

  static constexpr bool kReadsAgain = true;

  struct Row {
    Value mean, scale;
  };

  const T* gamma;
  const T* beta;
  Value epsilon;
  Row* gathered;  /// rows of the band being gathered
  Row* emitted;   /// rows of the previous band
  // Current row: its running mean (or 0) and the squared deviations from it.
  Value centre = 0;
  Value squares = 0;
  // Current block: deviations from that mean, and their squares.
  Value distances = 0;
  Value block_squares = 0;
  Row emitted_row{};  /// the row whose block is emitted

  /// a + b. For fp16 with AVX-512 as a multiply-add with the same result: unlike an addition it does not compete
  /// with conversions on a Zen 5 (5.0 instead of 5.4 cycles per 16 elements; equal on an Emerald Rapids).
  static Packet plus(Packet a, Packet b) {
    constexpr bool kConverts = kIsa == Isa::avx512 && std::is_same_v<T, Fp16>;  // bf16 is shifted and masked
    return kConverts ? V::multiply_add(a, V::all(1), b) : V::add(a, b);
  }

  struct Gather {
    Packet minus_centre;
    Packet distances = V::all(0);
    Packet squares = V::all(0);

    template <std::size_t n>
    void operator()(const auto&, const Packet (&a)[n]) {
      for (std::size_t i = 0; i < n; ++i) {
        const Packet distance = centred ? plus(a[i], minus_centre) : a[i];
        if (centred) distances = plus(distance, distances);
        squares = V::multiply_add(distance, distance, squares);
      }
    }
  };
  struct Emit {
    const T* gamma;
    const T* beta;
    Packet minus_mean;
    Packet scale;

    Packet operator()(auto where, const T* in) const {
      const Packet value = where.load(in);
      const Packet g = where.load(gamma);
      if constexpr (!centred) return V::multiply(V::multiply(value, scale), g);
      return V::multiply_add(V::multiply(plus(value, minus_mean), scale), g, where.load(beta));
    }
  };

  void begin_band() { std::swap(gathered, emitted); }
  void begin_row(const T* in, std::int64_t columns) {
    if (!centred) return;
    constexpr std::int64_t kFirst = 4 * V::kLanes;  // a whole block would be read while nothing is written
    const std::int64_t count = columns < kFirst ? columns : kFirst;
    Packet sum = V::all(0);
    for_vectors<kIsa, T, false, 1>(count, [&](const auto& where) { sum = V::add(sum, where[0].load(in)); });
    centre = V::sum(sum) / static_cast<Value>(count);
  }
  Value rest() const { return centre; }
  Gather gathering(std::int64_t) const { return {V::all(-centre)}; }
  void take(const Gather& gather) {
    if (centred) distances += V::sum(gather.distances);
    block_squares += V::sum(gather.squares);
  }
  bool end_block(const T*, std::int64_t first, std::int64_t count) {
    const Value shift = distances / static_cast<Value>(first + count);
    squares += block_squares - shift * distances;
    centre += shift;
    distances = block_squares = 0;
    return true;
  }
  void end_row(std::int64_t row, std::int64_t columns) {
    gathered[row] = {centre, 1 / std::sqrt(squares / static_cast<Value>(columns) + epsilon)};
    squares = 0;
  }
  void emit_block(std::int64_t row, std::int64_t) { emitted_row = emitted[row]; }
  Emit emitting(std::int64_t first) const {
    return {gamma + first, centred ? beta + first : nullptr, V::all(-emitted_row.mean), V::all(emitted_row.scale)};
  }
};

template <Isa isa, bool centred, typename T>
void normalise(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns, double epsilon,
               bool streamed) {
  using Op = Normalise<T, centred>;
  typename Op::Row bands[2][kMostBandRows] = {};
  const auto added = static_cast<Computed<T>>(epsilon);
  pipeline_rows<isa>(x, y, rows, columns, streamed, Op{gamma, beta, added, bands[0], bands[1]});
}

}  // namespace

template <Isa isa, typename T>
void normalise_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                    double epsilon, bool streamed) {
  if (beta == nullptr) {
    normalise<isa, false>(x, gamma, beta, y, rows, columns, epsilon, streamed);
  } else {
    normalise<isa, true>(x, gamma, beta, y, rows, columns, epsilon, streamed);
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
