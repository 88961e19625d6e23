// A register of 16-bit elements and the two fp32 registers that it widens to, at the level of a *.simd.cpp;
// vector.hpp makes vectors of it. Rounding is to nearest even, and subnormals are kept. AVX512_BF16's conversion is
// not used: it flushes subnormals to zero, so results would depend on the CPU.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace roofline {

using WideBits [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
using WideSigned [[gnu::vector_size(kVectorBytes)]] = std::int32_t;
using WideFloats [[gnu::vector_size(kVectorBytes)]] = float;

/// What a register of 16-bit elements widens to, in a conversion-specific order.
template <Isa isa>
struct WidePair {
  WideFloats first, second;
};

/// Even and odd elements: a 32-bit lane holds one of each, so that widening and narrowing need shifts and masks but
/// no shuffle. Elementwise computation does not depend on the order.
template <Isa isa>
struct EvenOdd {
  static WideBits load(const void* from) {
    WideBits bits;
    std::memcpy(&bits, from, sizeof bits);
    return bits;
  }

  /// Permutes fp32 values from memory order and back.
  static WidePair<isa> arranged(WidePair<isa> values) {
    return with_lanes([&]<int... i>()->WidePair<isa> {
      return {__builtin_shufflevector(values.first, values.second, 2 * i...),
              __builtin_shufflevector(values.first, values.second, 2 * i + 1 ...)};
    });
  }
  static WidePair<isa> in_memory_order(WidePair<isa> values) {
    return with_lanes([&]<int... i>()->WidePair<isa> {
      return {__builtin_shufflevector(values.first, values.second, i / 2 + i % 2 * kLanes...),
              __builtin_shufflevector(values.first, values.second, (i + kLanes) / 2 + i % 2 * kLanes...)};
    });
  }

 private:
  static constexpr int kLanes = kVectorBytes / 4;
  template <typename F>
  static WidePair<isa> with_lanes(F f) {
    return [f]<int... i>(std::integer_sequence<int, i...>) { return f.template operator()<i...>(); }
    (std::make_integer_sequence<int, kLanes>{});
  }
};

/// Conversions of one type. narrow_lanes() leaves each element in the lower half of its lane.
template <Isa isa, typename T>
struct Conversion;

/// A NaN among sums and products of bf16 elements has a zero lower half, which is all that rounding looks at, and
/// stays NaN. (narrowed() handles any NaN.)
template <Isa isa>
struct Conversion<isa, Bf16> : EvenOdd<isa> {
  static WidePair<isa> widen(const void* from) {
    const WideBits both = EvenOdd<isa>::load(from);
    return {reinterpret_cast<WideFloats>(both << 16), reinterpret_cast<WideFloats>(both & 0xFFFF0000)};
  }
  static WideBits narrow(WidePair<isa> wide) { return rounded(wide.first) >> 16 | (rounded(wide.second) & 0xFFFF0000); }

  static WideBits narrow_lanes(WideFloats wide) { return rounded(wide) >> 16; }

 private:
  static WideBits rounded(WideFloats wide) {
    const auto bits = reinterpret_cast<WideBits>(wide);
    return bits + 0x7FFF + (bits >> 16 & 1);
  }
};

#if defined(__F16C__)
/// Lower and upper half, which is what the instructions convert.
template <Isa isa>
struct Conversion<isa, Fp16> {
  static constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

  static WidePair<isa> arranged(WidePair<isa> values) { return values; }
  static WidePair<isa> in_memory_order(WidePair<isa> values) { return values; }

#if defined(__AVX512F__)
  static WidePair<isa> widen(const void* from) {
    return {_mm512_cvtph_ps(half<__m256i>(from, 0)), _mm512_cvtph_ps(half<__m256i>(from, 1))};
  }
  static WideBits narrow(WidePair<isa> wide) {
    const __m512i lower = _mm512_castsi256_si512(_mm512_cvtps_ph(wide.first, kNearest));
    return reinterpret_cast<WideBits>(_mm512_inserti64x4(lower, _mm512_cvtps_ph(wide.second, kNearest), 1));
  }
  static WideBits narrow_lanes(WideFloats wide) {
    return reinterpret_cast<WideBits>(_mm512_cvtepu16_epi32(_mm512_cvtps_ph(wide, kNearest)));
  }
#else
  static WidePair<isa> widen(const void* from) {
    return {_mm256_cvtph_ps(half<__m128i>(from, 0)), _mm256_cvtph_ps(half<__m128i>(from, 1))};
  }
  static WideBits narrow(WidePair<isa> wide) {
    return reinterpret_cast<WideBits>(
        _mm256_set_m128i(_mm256_cvtps_ph(wide.second, kNearest), _mm256_cvtps_ph(wide.first, kNearest)));
  }
  static WideBits narrow_lanes(WideFloats wide) {
    return reinterpret_cast<WideBits>(_mm256_cvtepu16_epi32(_mm256_cvtps_ph(wide, kNearest)));
  }
#endif

 private:
  template <typename Half>
  static Half half(const void* from, int number) {
    Half bits;
    std::memcpy(&bits, static_cast<const char*>(from) + number * sizeof bits, sizeof bits);
    return bits;
  }
};
#elif defined(__aarch64__)
/// The same on NEON.
template <Isa isa>
struct Conversion<isa, Fp16> {
  static WidePair<isa> arranged(WidePair<isa> values) { return values; }
  static WidePair<isa> in_memory_order(WidePair<isa> values) { return values; }

  static WidePair<isa> widen(const void* from) {
    const float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(static_cast<const std::uint16_t*>(from)));
    return {vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)};
  }
  static WideBits narrow(WidePair<isa> wide) {
    return reinterpret_cast<WideBits>(vcvt_high_f16_f32(vcvt_f16_f32(wide.first), wide.second));
  }
  static WideBits narrow_lanes(WideFloats wide) { return vmovl_u16(vreinterpret_u16_f16(vcvt_f16_f32(wide))); }
};
#else
/// By shifts, as widened() and fp16_bits() do it for scalars.
template <Isa isa>
struct Conversion<isa, Fp16> : EvenOdd<isa> {
  static WidePair<isa> widen(const void* from) {
    const WideBits both = EvenOdd<isa>::load(from);
    return {widened(both & 0xFFFF), widened(both >> 16)};
  }
  static WideBits narrow(WidePair<isa> wide) { return narrow_lanes(wide.first) | narrow_lanes(wide.second) << 16; }

  static WideBits narrow_lanes(WideFloats wide) {
    const auto bits = reinterpret_cast<WideBits>(wide);
    const WideBits magnitude = bits & 0x7FFFFFFF;
    const auto compared = reinterpret_cast<WideSigned>(magnitude);
    const WideBits normal = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    const WideBits subnormal = reinterpret_cast<WideBits>(reinterpret_cast<WideFloats>(magnitude) + 0.5F) - 0x3F000000;
    const WideBits nan = (magnitude >> 13 & 0x3FF) | 0x7E00;
    WideBits half = compared < 0x38800000 ? subnormal : normal;
    half = compared >= 0x477FF000 ? WideBits{} + 0x7C00 : half;
    half = compared > 0x7F800000 ? nan : half;
    return half | (bits >> 16 & 0x8000);
  }

 private:
  static WideFloats widened(WideBits bits) {
    const WideBits magnitude = (bits & 0x7FFF) << 13;
    const auto scaled = reinterpret_cast<WideBits>(reinterpret_cast<WideFloats>(magnitude) * 0x1p112F);
    const WideBits special = magnitude | 0x7F800000;
    const WideBits wide = reinterpret_cast<WideSigned>(magnitude) >= 0x7C00 << 13 ? special : scaled;
    return reinterpret_cast<WideFloats>(wide | (bits & 0x8000) << 16);
  }
};
#endif

}  // namespace roofline
