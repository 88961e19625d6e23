// Kernels of the CPU's fp32 and fp64 ceilings: independent chains of fused multiply-adds on registers, compiled once
// per instruction-set level (fma.simd.cpp).
#pragma once

#include <cmath>
#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// x ← x·kFmaFactor + kFmaIncrement, repeatedly. The factor's mantissa is all ones except the last two bits, and x
/// slowly rises from near 1 towards 100 without reaching it: no value repeats, so a lost round shows in the result.
template <typename T>
inline constexpr T kFmaFactor = T(1) - T(1) / T(4194304);
template <typename T>
inline constexpr T kFmaIncrement = T(100) / T(4194304);

/// AArch64 vector FMAs overwrite their addend, so that form would need a copy of the increment. There chain c
/// computes x ← x + kFmaFactors[c mod 4]·kFmaIncrement, and x increases.
inline constexpr int kFmaFactorCount = 4;
template <typename T>
inline constexpr T kFmaFactors[kFmaFactorCount] = {kFmaFactor<T>, T(0.8660254037844386), T(0.7071067811865475),
                                                   T(0.5773502691896257)};

/// One kernel: `rounds` steps on each of `chains` vectors of `lanes` elements.
template <typename T>
struct FmaKernel {
  int chains = 0;
  int unroll = 0;  ///< steps of each chain in one turn of the loop; `rounds` must be a multiple of it
  int lanes = 0;
  /// Advances chain c, whose value is state[c·lanes … c·lanes + lanes - 1], by `rounds` steps.
  void (*run)(std::int64_t rounds, T* state) = nullptr;
  int additions = 0;  ///< in one turn of the loop, of a paced kernel
};

/// The kernels of one level. Plain pointers, because these objects must not share inline functions of the standard
/// library with code for lower levels.
template <typename T>
struct FmaKernels {
  const FmaKernel<T>* first = nullptr;
  int count = 0;
  /// The first one with additions among its steps, for each of kPaces (pace.hpp), or null.
  const FmaKernel<T>* paced = nullptr;
};

template <Isa>
FmaKernels<float> fma_kernels_fp32();
template <Isa>
FmaKernels<double> fma_kernels_fp64();

/// True if a step at that level is one fused operation, or a multiplication and an addition (SSE2 has no FMA).
constexpr bool has_fma(Isa isa) {
#if defined(__x86_64__)
  return isa != Isa::baseline;
#else
  (void)isa;
  return true;
#endif
}

/// One step of x, with the roundings of the kernels.
template <typename T>
T fma_step(T x, int chain, bool fused) {
#if defined(__aarch64__)
  (void)fused;
  return std::fma(kFmaFactors<T>[chain % kFmaFactorCount], kFmaIncrement<T>, x);
#else
  (void)chain;
  if (fused) return std::fma(x, kFmaFactor<T>, kFmaIncrement<T>);
  // The volatile product keeps the compiler from fusing what the kernel does not fuse.
  volatile T product = x * kFmaFactor<T>;
  return product + kFmaIncrement<T>;
#endif
}

}  // namespace roofline
