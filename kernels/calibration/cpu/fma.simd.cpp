// FMA chains in GCC's vector types, one source for SSE2, AVX2 and AVX-512. The compiler contracts x·a + b to one
// instruction if the level has it (ISO C++ mode keeps -ffp-contract=fast); fma.cpp replays the arithmetic exactly
// and would detect a difference. NEON's is assembly: the compiler would hoist its product out of the loop.
#include "kernels/calibration/cpu/fma.hpp"

#include <cstring>

#include "kernels/calibration/cpu/pace.hpp"

namespace roofline {
namespace {

using VectorF32 [[gnu::vector_size(kVectorBytes)]] = float;
using VectorF64 [[gnu::vector_size(kVectorBytes)]] = double;

#if defined(__aarch64__)
// Assembly, because the compiler moves the sums of the intrinsic from one register to another among the additions, on
// the pipes that are measured (tests/paced_loops.py).
inline void multiply_add(VectorF32& sum, const VectorF32& a, const VectorF32& b) {
  asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(a), "w"(b));
}
inline void multiply_add(VectorF64& sum, const VectorF64& a, const VectorF64& b) {
  asm("fmla %0.2d, %1.2d, %2.2d" : "+w"(sum) : "w"(a), "w"(b));
}
#endif

template <typename T, typename V, int kChains, int kUnroll, int kAdditions = 0>
void run_chains(std::int64_t rounds, T* state) {
  constexpr int kLanes = sizeof(V) / sizeof(T);
  V x[kChains];
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) std::memcpy(&x[c], state + c * kLanes, sizeof(V));
  V increment = V{} + kFmaIncrement<T>;
  // Hides the values, so that they stay in registers and are not folded into memory operands.
#if defined(__aarch64__)
  V factor[kFmaFactorCount];
  asm volatile("" : "+w"(increment));
#pragma GCC unroll 4
  for (int f = 0; f < kFmaFactorCount; ++f) {
    factor[f] = V{} + kFmaFactors<T>[f];
    asm volatile("" : "+w"(factor[f]));
  }
  const auto step = [&](V& value, int chain) { multiply_add(value, factor[chain % kFmaFactorCount], increment); };
#else
  V factor = V{} + kFmaFactor<T>;
#if defined(__x86_64__)
  asm volatile("" : "+x"(factor), "+x"(increment));
  // GCC 14 keeps each sum as the two halves that it was loaded in, and the sums in memory.
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) asm volatile("" : "+x"(x[c]));
#endif
  const auto step = [&](V& value, int) { value = value * factor + increment; };
#endif
  [[maybe_unused]] Chain additions;
  for (std::int64_t round = 0; round < rounds; round += kUnroll) {
#pragma GCC unroll 32
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 32
      for (int c = 0; c < kChains; ++c) {
        step(x[c], c);
        if constexpr (kAdditions > 0) additions.add_after<kChains * kUnroll, kAdditions>(u * kChains + c);
      }
    }
  }
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) std::memcpy(state + c * kLanes, &x[c], sizeof(V));
}

template <typename T, typename V, int kChains, int kUnroll>
constexpr FmaKernel<T> kernel() {
  return {kChains, kUnroll, sizeof(V) / sizeof(T), run_chains<T, V, kChains, kUnroll>};
}

template <typename T, typename V, int kChains, int kUnroll, int kPace>
constexpr FmaKernel<T> paced() {
  constexpr int kAdditions = additions_in(kChains * kUnroll, kPace);
  return {kChains, kUnroll, sizeof(V) / sizeof(T), run_chains<T, V, kChains, kUnroll, kAdditions>, kAdditions};
}

// Latency times pipes is 8 to 10 on most cores, 12 to 16 where multiplication and addition are two instructions, and
// 16 to 24 with four pipes (Neoverse V1) or six. Two registers hold constants, so 14 chains fill the 16 registers of
// SSE2 and AVX2. On AArch64 five do. The likely fastest first.
template <typename T, typename V>
constexpr FmaKernel<T> kKernels[] = {
#if defined(__aarch64__)
    kernel<T, V, 16, 2>(),
    kernel<T, V, 24, 1>(),
    kernel<T, V, 12, 4>(),
#elif defined(__AVX512F__)
    kernel<T, V, 12, 4>(),
    kernel<T, V, 16, 2>(),
    kernel<T, V, 10, 4>(),
    kernel<T, V, 24, 1>(),
#elif defined(__AVX2__)
    kernel<T, V, 12, 4>(),
    kernel<T, V, 10, 4>(),
    kernel<T, V, 14, 4>(),
    kernel<T, V, 12, 1>(),
#else
    kernel<T, V, 14, 4>(),
    kernel<T, V, 12, 4>(),
    kernel<T, V, 14, 1>(),
    kernel<T, V, 10, 4>(),
#endif
};

template <typename T, typename V, int kPace>
constexpr FmaKernel<T> paced_first() {
#if defined(__aarch64__)
  return paced<T, V, 16, 2, kPace>();
#elif defined(__AVX2__)
  return paced<T, V, 12, 4, kPace>();
#else
  return paced<T, V, 14, 4, kPace>();
#endif
}

template <typename T, typename V>
constexpr FmaKernel<T> kPacedKernels[kPaceCount] = {paced_first<T, V, kPaces[0]>(), paced_first<T, V, kPaces[1]>(),
                                                    paced_first<T, V, kPaces[2]>(), paced_first<T, V, kPaces[3]>(),
                                                    paced_first<T, V, kPaces[4]>()};

template <typename T, typename V>
FmaKernels<T> all_kernels() {
  return {kKernels<T, V>, sizeof(kKernels<T, V>) / sizeof(FmaKernel<T>), kPacedKernels<T, V>};
}

}  // namespace

template <>
FmaKernels<float> fma_kernels_fp32<kIsa>() {
  return all_kernels<float, VectorF32>();
}
template <>
FmaKernels<double> fma_kernels_fp64<kIsa>() {
  return all_kernels<double, VectorF64>();
}

}  // namespace roofline
