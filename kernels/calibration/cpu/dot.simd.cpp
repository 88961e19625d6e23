// Dot-product chains. The measured instructions are inline assembly: the compiler cannot replace or hoist them, the
// level's flags need not include them, and they run only on CPUs that have them.
#include "kernels/calibration/cpu/dot.hpp"

#include "kernels/calibration/cpu/pace.hpp"

namespace roofline {
namespace {

using Words [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
using UnalignedWords [[gnu::vector_size(kVectorBytes), gnu::aligned(4)]] = std::uint32_t;
constexpr int kLanes = kVectorBytes / 4;

#if defined(__x86_64__) || defined(__aarch64__)
template <DotStep kStep>
inline void step(Words& sum, const Words& a, const Words& b) {
#if defined(__AVX512BW__)
  Words products;
  if constexpr (kStep == DotStep::bf16_pairs) asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  if constexpr (kStep == DotStep::mixed_bytes) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  if constexpr (kStep == DotStep::int16_pairs)
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(sum), "=&v"(products) : "v"(a), "v"(b));
#elif defined(__AVX2__)
  Words products;
  if constexpr (kStep == DotStep::mixed_bytes) asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  if constexpr (kStep == DotStep::int16_pairs)
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum), "=&x"(products) : "x"(a), "x"(b));
#elif defined(__x86_64__)
  Words products = a;
  asm("pmaddwd %2, %1\n\tpaddd %1, %0" : "+x"(sum), "+x"(products) : "x"(b));
#else
  if constexpr (kStep == DotStep::signed_bytes)
    asm(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
  if constexpr (kStep == DotStep::int16_halves)
    asm("smlal %0.4s, %1.4h, %2.4h\n\tsmlal2 %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(a), "w"(b));
#endif
}

Words load(const std::uint32_t* from) { return *reinterpret_cast<const UnalignedWords*>(from); }

template <DotStep kStep>
Words whole(Words sum) {
  using Floats [[gnu::vector_size(kVectorBytes)]] = float;
  using Integers [[gnu::vector_size(kVectorBytes)]] = std::int32_t;
  if constexpr (is_bf16(kStep)) {
    return reinterpret_cast<Words>(__builtin_convertvector(reinterpret_cast<Floats>(sum), Integers));
  } else {
    return sum;
  }
}

// Every loop is unrolled, and no array has its address taken: arrays must live in registers.
template <DotStep kStep, int kChains, int kAdditions = 0>
void run_chains(std::int64_t rounds, const std::uint32_t* left, const std::uint32_t* right, std::uint32_t* totals) {
  Words a[kDotOperands];
  Words sum[kChains];
#pragma GCC unroll 16
  for (int i = 0; i < kDotOperands; ++i) a[i] = load(left + i * kLanes);
  const Words b = load(right);
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) sum[c] = Words{};
  [[maybe_unused]] Chain additions;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) {
      step<kStep>(sum[c], a[c % kDotOperands], b);
      if constexpr (kAdditions > 0) additions.add_after<kChains, kAdditions>(c);
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) *reinterpret_cast<UnalignedWords*>(totals + c * kLanes) += whole<kStep>(sum[c]);
}

template <DotStep kStep, int kChains, int kPace>
constexpr PacedDot paced() {
  constexpr int kAdditions = additions_in(kChains, kPace);
  return {kAdditions, run_chains<kStep, kChains, kAdditions>};
}

template <DotStep kStep, int kChains>
constexpr PacedDot kPaced[kPaceCount] = {paced<kStep, kChains, kPaces[0]>(), paced<kStep, kChains, kPaces[1]>(),
                                         paced<kStep, kChains, kPaces[2]>(), paced<kStep, kChains, kPaces[3]>(),
                                         paced<kStep, kChains, kPaces[4]>()};

template <DotStep kStep, int kChains>
constexpr DotKernel kernel(const char* instruction, std::optional<DotUnit> unit = std::nullopt) {
  return {kStep, unit, kChains, kLanes, instruction, run_chains<kStep, kChains>, kPaced<kStep, kChains>};
}

// Latency times pipes is 5 to 10. With 16 registers, four for left operands, one for the right one and one for
// products, 10 chains fit.
constexpr DotKernel kKernels[] = {
#if defined(__AVX512BW__)
    kernel<DotStep::bf16_pairs, 12>("VDPBF16PS, 512 bit", DotUnit::avx512_bf16),
    kernel<DotStep::bf16_pairs, 16>("VDPBF16PS, 512 bit", DotUnit::avx512_bf16),
    kernel<DotStep::mixed_bytes, 12>("VPDPBUSD, 512 bit", DotUnit::avx512_vnni),
    kernel<DotStep::mixed_bytes, 16>("VPDPBUSD, 512 bit", DotUnit::avx512_vnni),
    kernel<DotStep::int16_pairs, 12>("VPMADDWD + VPADDD, 512 bit"),
#elif defined(__AVX2__)
    kernel<DotStep::mixed_bytes, 10>("VPDPBUSD, 256 bit", DotUnit::avx_vnni),
    kernel<DotStep::int16_pairs, 10>("VPMADDWD + VPADDD, 256 bit"),
#elif defined(__x86_64__)
    kernel<DotStep::int16_pairs, 10>("PMADDWD + PADDD, 128 bit"),
#else
    kernel<DotStep::signed_bytes, 16>("SDOT, 128 bit", DotUnit::neon_dot),
    kernel<DotStep::int16_halves, 16>("SMLAL + SMLAL2, 128 bit"),
#endif
};
constexpr DotKernels kAll = {kKernels, sizeof kKernels / sizeof *kKernels};
#else
constexpr DotKernels kAll = {};
#endif

}  // namespace

template <>
DotKernels dot_kernels<kIsa>() {
  return kAll;
}

}  // namespace roofline
