// FMA chains in GCC's vector types, so that one text serves SSE2, AVX2, AVX-512 and NEON. The compiler
// contracts x·a + b to one instruction where the level has it (ISO C++ mode keeps -ffp-contract=fast);
// cpu_fma.cpp replays the arithmetic exactly and would notice if it did not.
#include "kernels/calibration/cpu/fma.hpp"

namespace roofline {
namespace {

using VectorF32 [[gnu::vector_size(kVectorBytes)]] = float;
using VectorF64 [[gnu::vector_size(kVectorBytes)]] = double;

template <typename T, typename V, int kChains, int kUnroll>
void run_chains(std::int64_t rounds, const T* initial, T* final) {
  constexpr int kLanes = sizeof(V) / sizeof(T);
  V x[kChains];
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) x[c] = V{} + initial[c];
  V factor = V{} + kFmaFactor<T>;
  V increment = V{} + kFmaIncrement<T>;
  // Hides the values: they stay in registers and are not folded into memory operands.
#if defined(__x86_64__)
  asm volatile("" : "+x"(factor), "+x"(increment));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(factor), "+w"(increment));
#endif
  for (std::int64_t round = 0; round < rounds; round += kUnroll) {
#pragma GCC unroll 32
    for (int u = 0; u < kUnroll; ++u) {
#pragma GCC unroll 32
      for (int c = 0; c < kChains; ++c) x[c] = x[c] * factor + increment;
    }
  }
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) {
    for (int lane = 0; lane < kLanes; ++lane) final[c * kLanes + lane] = x[c][lane];
  }
}

template <typename T, typename V, int kChains, int kUnroll>
constexpr FmaKernel<T> kernel() {
  return {kChains, kUnroll, sizeof(V) / sizeof(T), run_chains<T, V, kChains, kUnroll>};
}

// The product of latency and pipes is 8 to 10 on most cores, 12 to 16 where multiplication and addition are
// two instructions. Two registers hold the constants: 14 chains fill the 16 of SSE2 and AVX2. The likely winner first.
template <typename T, typename V>
constexpr FmaKernel<T> kKernels[] = {
#if defined(__AVX512F__) || defined(__aarch64__)
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

template <typename T, typename V>
FmaKernels<T> all_kernels() {
  return {kKernels<T, V>, sizeof(kKernels<T, V>) / sizeof(FmaKernel<T>)};
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
