// The vector kernels of layer normalisation: the two moments of a row are summed in one sweep, while the row before is
// normalised and stored. A block's moments are taken about the mean of what came before it, so that little cancels: at
// most half of the squares that the second block adds, and less of each later one's.
#include "kernels/layernorm/layernorm.hpp"

#include <cmath>

#include "kernels/blocks/cpu/row_sums.hpp"

namespace roofline {
namespace {

template <typename T, bool streamed>
void layernorm(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns) {
  using V = Vector<kIsa, T>;
  using Value = Computed<T>;
  const auto n = static_cast<Value>(columns);
  Value centre = 0;   // the mean so far
  Value squares = 0;  // of the distances from it
  Value mean = 0;
  Value scale = 0;
  pipeline_rows<T>(
      rows, columns,
      [&](std::int64_t row, std::int64_t first, std::int64_t count, auto meanwhile) {
        const T* in = x + row * columns + first;
        meanwhile();
        if (first == 0) {
          const Value sum = sum_of<kIsa>(in, count, [](auto s, auto v) { return V::add(s, v); });
          centre = sum / static_cast<Value>(count);
          squares = 0;
        }
        const auto centres = V::all(centre);
        const Value distances = sum_of<kIsa>(
            in, count, [=](auto sum, auto v) { return V::add(sum, V::subtract(v, centres)); }, centre);
        squares += sum_of<kIsa>(
            in, count,
            [=](auto sum, auto v) {
              const auto distance = V::subtract(v, centres);
              return V::multiply_add(distance, distance, sum);
            },
            centre);
        const Value shift = distances / static_cast<Value>(first + count);
        centre += shift;
        squares -= shift * distances;
      },
      [&] {
        mean = centre;
        scale = 1 / std::sqrt(squares / n + static_cast<Value>(kLayerNormEpsilon));
      },
      [&](std::int64_t row, std::int64_t first, std::int64_t count) {
        const T* in = x + row * columns + first;
        const T* next = in + columns + kAhead<T>;
        const T* g = gamma + first;
        const T* b = beta + first;
        store_block<kIsa, streamed>(y + row * columns + first, count,
                                    [=, means = V::all(mean), scales = V::all(scale)](auto where) {
                                      __builtin_prefetch(next + where.at, 0, 2);
                                      const auto normal = V::multiply(V::subtract(where.load(in), means), scales);
                                      return V::multiply_add(normal, where.load(g), where.load(b));
                                    });
      });
}

}  // namespace

template <Isa isa, typename T>
void layernorm_rows(const T* x, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t columns,
                    bool streamed) {
  with_stores<isa>(y, columns, streamed,
                   [&]<bool past_caches>() { layernorm<T, past_caches>(x, gamma, beta, y, rows, columns); });
}

template void layernorm_rows<kIsa, float>(const float*, const float*, const float*, float*, std::int64_t, std::int64_t,
                                          bool);
template void layernorm_rows<kIsa, double>(const double*, const double*, const double*, double*, std::int64_t,
                                           std::int64_t, bool);
template void layernorm_rows<kIsa, Fp16>(const Fp16*, const Fp16*, const Fp16*, Fp16*, std::int64_t, std::int64_t,
                                         bool);
template void layernorm_rows<kIsa, Bf16>(const Bf16*, const Bf16*, const Bf16*, Bf16*, std::int64_t, std::int64_t,
                                         bool);

}  // namespace roofline
