// Vector kernels of softmax: a row's exponentials are computed relative to a sufficiently large element, while the
// previous row is stored with the factors of its blocks: to the largest of those elements and to the row's sum.
#include "kernels/softmax/softmax.hpp"

#include <cmath>

#include "kernels/blocks/cpu/row_pipeline.hpp"

namespace roofline {
namespace {

template <typename T>
struct Softmax {
  using V = Vector<kIsa, T>;
  using Value = Computed<T>;
  using Packet = typename V::Packet;
  /// Less than any value: finite, so that infinities differ from it by infinity.
  static constexpr Value kLeast = Eigen::NumTraits<Value>::lowest();
  /// Above this a sum is too close to the largest number.
  static constexpr Value kLargeSum = 1e15F;
  static constexpr bool kReadsAgain = false;

  struct Block {
    Value reference;  ///< what its powers are relative to
    Value sum;        ///< of its powers
    Value factor;     /// of the powers of the row that is emitted
  };

  struct Gather {
    Value* powers;
    Packet reference;
    Packet sums = V::all(0);

    template <typename W, std::size_t n>
    void operator()(const W (&where)[n], Packet (&a)[n]) {
      for (Packet& value : a) value = V::subtract(value, reference);
      V::exponentials(a);
      for (std::size_t i = 0; i < n; ++i) {
        V::put_by(powers + where[i].at, a[i]);
        sums = V::add(sums, a[i]);
      }
    }
  };
  struct Emit {
    const Value* powers;
    Packet factors;

    Packet operator()(auto where, const T*) const { return V::multiply(V::take_back(powers + where.at), factors); }
  };

  Value* powers;  /// of the row being gathered, followed by those not yet emitted
  Block* blocks;
  Value reference = 0;
  Value sum = 0;     /// of the block being gathered
  Value factor = 0;  /// of the block being emitted

  Block& block(std::int64_t first) const { return blocks[first / kRowBlock<T>]; }

  static Value largest_of(const T* in, std::int64_t count) {
    Packet largest = V::all(kLeast);
    for_vectors<kIsa, T, false, 1>(
        count, [&](const auto& where) { largest = V::maximum(largest, where[0].load(in, kLeast)); });
    return V::largest(largest);
  }
  void begin_band() {}
  /// Finding the largest element of the row would take a separate pass, in which memory writes nothing.
  void begin_row(const T* in, std::int64_t columns) {
    reference = largest_of(in, columns < V::kLanes ? columns : V::kLanes);
  }
  Value rest() const { return -Eigen::NumTraits<Value>::infinity(); }
  Gather gathering(std::int64_t first) const { return {powers + first, V::all(reference)}; }
  void take(const Gather& gather) { sum += V::sum(gather.sums); }
  bool end_block(const T* in, std::int64_t first, std::int64_t count) {
    Block& ended = block(first);
    ended.reference = reference;
    ended.sum = sum;
    sum = 0;
    if (!(ended.sum > kLargeSum)) return true;
    reference = largest_of(in, count);
    return false;
  }
  void end_row(std::int64_t, std::int64_t columns) {
    Block* const end = &block(columns - 1) + 1;
    Value largest = kLeast;
    for (const Block* b = blocks; b < end; ++b) largest = b->reference > largest ? b->reference : largest;
    Value total = 0;
    for (Block* b = blocks; b < end; ++b) {
      b->factor = std::exp(b->reference - largest);
      total += b->factor * b->sum;
    }
    // The largest reference is an element, whose own power is 1, unless the whole row is -inf: then it is NaN,
    // as -inf minus -inf.
    if (!(total > Value(0.5))) total = Eigen::NumTraits<Value>::quiet_NaN();
    for (Block* b = blocks; b < end; ++b) b->factor /= total;
  }
  void emit_block(std::int64_t, std::int64_t first) { factor = block(first).factor; }
  Emit emitting(std::int64_t first) const { return {powers + first, V::all(factor)}; }
};

}  // namespace

template <Isa isa, typename T>
void softmax_rows(const T* x, T* y, Computed<T>* scratch, std::int64_t rows, std::int64_t columns, bool streamed) {
  using Block = typename Softmax<T>::Block;
  auto* blocks = reinterpret_cast<Block*>(scratch + columns + Vector<isa, T>::kLanes);
  pipeline_rows<isa>(x, y, rows, columns, streamed, Softmax<T>{scratch, blocks});
}

template void softmax_rows<kIsa, float>(const float*, float*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, double>(const double*, double*, double*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Fp16>(const Fp16*, Fp16*, float*, std::int64_t, std::int64_t, bool);
template void softmax_rows<kIsa, Bf16>(const Bf16*, Bf16*, float*, std::int64_t, std::int64_t, bool);

}  // namespace roofline
