// The vector kernels of RMS normalisation: squares of a row are summed while the row before is scaled and stored.
#include "kernels/rmsnorm/rmsnorm.hpp"

#include <cmath>

#include "kernels/blocks/cpu/row_sums.hpp"

namespace roofline {
namespace {

template <typename T, bool streamed>
void rmsnorm(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t columns) {
  using V = Vector<kIsa, T>;
  using Value = Computed<T>;
  Value squares = 0;
  Value scale = 0;
  pipeline_rows<T>(
      rows, columns,
      [&](std::int64_t row, std::int64_t first, std::int64_t count, auto meanwhile) {
        const T* in = x + row * columns + first;
        fetch_ahead(in, count);
        meanwhile();
        squares += sum_of<kIsa>(in, count, [](auto sum, auto v) { return V::multiply_add(v, v, sum); });
      },
      [&] {
        scale = 1 / std::sqrt(squares / static_cast<Value>(columns) + static_cast<Value>(kRmsNormEpsilon));
        squares = 0;
      },
      [&](std::int64_t row, std::int64_t first, std::int64_t count) {
        const T* in = x + row * columns + first;
        const T* g = gamma + first;
        store_block<kIsa, streamed>(y + row * columns + first, count, [=, scales = V::all(scale)](auto where) {
          return V::multiply(V::multiply(where.load(in), scales), where.load(g));
        });
      });
}

}  // namespace

template <Isa isa, typename T>
void rmsnorm_rows(const T* x, const T* gamma, T* y, std::int64_t rows, std::int64_t columns, bool streamed) {
  with_stores<isa>(y, columns, streamed,
                   [&]<bool past_caches>() { rmsnorm<T, past_caches>(x, gamma, y, rows, columns); });
}

template void rmsnorm_rows<kIsa, float>(const float*, const float*, float*, std::int64_t, std::int64_t, bool);
template void rmsnorm_rows<kIsa, double>(const double*, const double*, double*, std::int64_t, std::int64_t, bool);
template void rmsnorm_rows<kIsa, Fp16>(const Fp16*, const Fp16*, Fp16*, std::int64_t, std::int64_t, bool);
template void rmsnorm_rows<kIsa, Bf16>(const Bf16*, const Bf16*, Bf16*, std::int64_t, std::int64_t, bool);

}  // namespace roofline
