// The vector kernels of softmax: a row's exponentials are taken block by block, each relative to its block's maximum,
// while the row before is stored with what its blocks lack to the row's maximum and sum.
#include "kernels/softmax/softmax.hpp"

#include <cmath>

#include "kernels/blocks/cpu/row_sums.hpp"

namespace roofline {
namespace {

template <typename T>
constexpr Computed<T> kNothing = -Eigen::NumTraits<Computed<T>>::infinity();

template <typename T>
Computed<T> maximum_of(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet largest[kWays];
  for (auto& packet : largest) packet = V::all(kNothing<T>);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      largest[way] = V::maximum(largest[way], V::load(x + i + way * V::kLanes));
    }
  }
  for (; i + V::kLanes <= count; i += V::kLanes) largest[0] = V::maximum(largest[0], V::load(x + i));
  if (i < count) largest[0] = V::maximum(largest[0], load_part<V>(x + i, count - i, kNothing<T>));
  return V::largest(V::maximum(V::maximum(largest[0], largest[1]), V::maximum(largest[2], largest[3])));
}

/// Leaves exp(x - shift) in `out`, for take_back(), and returns the sum. Several packets at once: an exponential is a
/// chain of 11 dependent operations, and only independent ones fill the time between. Meanwhile the next block comes
/// into L1.
template <typename T>
Computed<T> exponentials(const T* x, Computed<T>* out, std::int64_t count, Computed<T> shift) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 2;
  const auto shifts = V::all(shift);
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(0);
  const auto take = [&](auto& sum, std::int64_t at, auto value) {
    const auto power = V::exponential(V::subtract(value, shifts));
    V::put_by(out + at, power);
    sum = V::add(sum, power);
  };
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    __builtin_prefetch(x + i + kRowBlock<T>, 0, 3);
    for (std::int64_t way = 0; way < kWays; ++way)
      take(sums[way], i + way * V::kLanes, V::load(x + i + way * V::kLanes));
  }
  for (; i + V::kLanes <= count; i += V::kLanes) take(sums[0], i, V::load(x + i));
  if (i < count) take(sums[0], i, load_part<V>(x + i, count - i, kNothing<T>));
  return V::sum(V::add(sums[0], sums[1]));
}

template <typename T, bool streamed>
void softmax(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns) {
  using Value = Computed<T>;
  using V = Vector<kIsa, T>;
  // Two elements a block: its maximum, then what its exponentials are scaled by; and their sum.
  Value* blocks = scratch + columns + V::kLanes;
  std::int64_t gathered = 0;
  std::int64_t emitted = 0;
  pipeline_rows<T>(
      rows, columns,
      [&](std::int64_t row, std::int64_t first, std::int64_t count, auto meanwhile) {
        const T* in = x + row * columns + first;
        const Value peak = maximum_of(in, count);
        meanwhile();
        blocks[2 * gathered] = peak;
        blocks[2 * gathered + 1] = exponentials(in, scratch + first, count, peak);
        ++gathered;
      },
      [&] {
        Value peak = blocks[0];
        for (std::int64_t b = 1; b < gathered; ++b) peak = blocks[2 * b] > peak ? blocks[2 * b] : peak;
        Value total = 0;
        for (std::int64_t b = 0; b < gathered; ++b) {
          blocks[2 * b] = std::exp(blocks[2 * b] - peak);
          total += blocks[2 * b] * blocks[2 * b + 1];
        }
        for (std::int64_t b = 0; b < gathered; ++b) blocks[2 * b] /= total;
        gathered = emitted = 0;
      },
      [&](std::int64_t row, std::int64_t first, std::int64_t count) {
        const Value* in = scratch + first;
        const T* next = x + (row + 1) * columns + first + kAhead<T>;
        const Value factor = blocks[2 * emitted++];
        store_block<kIsa, streamed>(y + row * columns + first, count, [=, scales = V::all(factor)](auto where) {
          __builtin_prefetch(next + where.at, 0, 2);
          return V::multiply(V::take_back(in + where.at), scales);
        });
      });
}

}  // namespace

template <Isa isa, typename T>
void softmax_rows(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns, bool streamed) {
  with_stores<isa>(y, columns, streamed,
                   [&]<bool past_caches>() { softmax<T, past_caches>(x, y, scratch, rows, columns); });
}

template void softmax_rows<kIsa, float>(const float*, float*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, double>(const double*, double*, double*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Fp16>(const Fp16*, Fp16*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Bf16>(const Bf16*, Bf16*, float*, std::int64_t, std::int64_t, bool);

}  // namespace roofline
