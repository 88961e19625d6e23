// The vector kernels of softmax: a row's exponentials are taken block by block, each relative to its block's maximum,
// while the row before is stored with what its blocks lack to the row's maximum and sum.
#include "kernels/softmax/softmax.hpp"

#include "kernels/blocks/cpu/row_sums.hpp"

namespace roofline {
namespace {

template <typename T>
Computed<T> maximum_of(const T* x, std::int64_t count) {
  using V = Vector<kIsa, T>;
  constexpr std::int64_t kWays = 4;
  typename V::Packet largest[kWays];
  for (auto& packet : largest) packet = V::spread(x);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      largest[way] = V::maximum(largest[way], V::load(x + i + way * V::kLanes));
    }
  }
  Computed<T> result = V::largest(V::maximum(V::maximum(largest[0], largest[1]), V::maximum(largest[2], largest[3])));
  for (; i < count; ++i) {
    const Computed<T> value = V::get(x + i);
    result = value > result ? value : result;
  }
  return result;
}

/// Stores exp(x - shift) and returns the sum. 4 packets at once: an exponential is a chain of 11 dependent operations,
/// and only independent ones fill the time between. Meanwhile the next block comes into L1.
template <typename T>
Computed<T> exponentials(const T* x, Computed<T>* out, std::int64_t count, Computed<T> shift) {
  using V = Vector<kIsa, T>;
  using Values = Vector<kIsa, Computed<T>>;
  constexpr std::int64_t kWays = 4;
  const auto shifts = V::all(shift);
  typename V::Packet sums[kWays];
  for (auto& sum : sums) sum = V::all(0);
  std::int64_t i = 0;
  for (; i + kWays * V::kLanes <= count; i += kWays * V::kLanes) {
    for (std::int64_t way = 0; way < kWays; ++way) {
      const std::int64_t at = i + way * V::kLanes;
      __builtin_prefetch(x + at + kRowBlock<T>, 0, 3);
      const auto value = V::exponential(V::subtract(V::load(x + at), shifts));
      Values::store(out + at, value);
      sums[way] = V::add(sums[way], value);
    }
  }
  Computed<T> total = V::sum(V::add(V::add(sums[0], sums[1]), V::add(sums[2], sums[3])));
  for (; i < count; ++i) {
    out[i] = Eigen::internal::pfirst(V::exponential(V::all(V::get(x + i) - shift)));
    total += out[i];
  }
  return total;
}

template <typename T, bool streamed>
void softmax(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns) {
  using Value = Computed<T>;
  using V = Vector<kIsa, T>;
  // Two elements a block: its maximum, then what its exponentials are scaled by; and their sum.
  Value* blocks = scratch + columns;
  std::int64_t gathered = 0;
  std::int64_t emitted = 0;
  pipeline_rows<kIsa, T>(
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
          blocks[2 * b] = Eigen::internal::pfirst(V::exponential(V::all(blocks[2 * b] - peak)));
          total += blocks[2 * b] * blocks[2 * b + 1];
        }
        for (std::int64_t b = 0; b < gathered; ++b) blocks[2 * b] /= total;
        gathered = emitted = 0;
      },
      [&](std::int64_t row, std::int64_t first, std::int64_t count) {
        const Value* in = scratch + first;
        const T* next = x + (row + 1) * columns + first + kAhead<T>;
        const Value factor = blocks[2 * emitted++];
        store_block<kIsa, T, streamed>(
            y + row * columns + first, count,
            [=, scales = V::all(factor)](std::int64_t i) {
              __builtin_prefetch(next + i, 0, 2);
              return V::multiply(Vector<kIsa, Value>::load(in + i), scales);
            },
            [=](std::int64_t i) { return in[i] * factor; });
      });
  if (streamed) V::fence();
}

}  // namespace

template <Isa isa, typename T>
void softmax_rows(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns, bool streamed) {
  if (streamed) {
    softmax<T, true>(x, y, scratch, rows, columns);
  } else {
    softmax<T, false>(x, y, scratch, rows, columns);
  }
}

template void softmax_rows<kIsa, float>(const float*, float*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, double>(const double*, double*, double*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Fp16>(const Fp16*, Fp16*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Bf16>(const Bf16*, Bf16*, float*, std::int64_t, std::int64_t, bool);

}  // namespace roofline
