// A register of 16-bit elements and one of fp32, each made of the other, at the level that a *.simd.cpp is compiled
// for. vector.hpp makes vectors of it. Rounding is to nearest, ties to even; subnormals are kept, and NaN stays NaN.
// AVX512_BF16 has an instruction that rounds to bf16, but it takes subnormals for zero, so that its results would
// depend on the CPU; the shifts that do it here hide behind memory.
#pragma once

#include <bit>
#include <cstdint>

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

/// As many 16-bit elements as a vector has fp32 lanes: memory, and 32-bit lanes that hold an element each.
template <Isa isa>
struct Halves {
#if defined(__AVX512F__)
  using Register = __m256i;
  static Register load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static void store(void* to, Register halves) { _mm256_storeu_si256(static_cast<__m256i*>(to), halves); }
  static void stream(void* to, Register halves) { _mm256_stream_si256(static_cast<__m256i*>(to), halves); }
  static Register all(std::uint16_t bits) { return _mm256_set1_epi16(static_cast<short>(bits)); }
  static std::uint16_t first(Register halves) {
    return static_cast<std::uint16_t>(_mm_cvtsi128_si32(_mm256_castsi256_si128(halves)));
  }
  static WideBits spread(Register halves) { return reinterpret_cast<WideBits>(_mm512_cvtepu16_epi32(halves)); }
  static Register gather(WideBits lanes) { return _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(lanes)); }
#elif defined(__AVX2__)
  using Register = __m128i;
  static Register load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static void store(void* to, Register halves) { _mm_storeu_si128(static_cast<__m128i*>(to), halves); }
  static void stream(void* to, Register halves) { _mm_stream_si128(static_cast<__m128i*>(to), halves); }
  static Register all(std::uint16_t bits) { return _mm_set1_epi16(static_cast<short>(bits)); }
  static std::uint16_t first(Register halves) { return static_cast<std::uint16_t>(_mm_cvtsi128_si32(halves)); }
  static WideBits spread(Register halves) { return reinterpret_cast<WideBits>(_mm256_cvtepu16_epi32(halves)); }
  static Register gather(WideBits lanes) {
    const auto all = reinterpret_cast<__m256i>(lanes);
    return _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  }
#elif defined(__SSE2__)
  using Register = __m128i;  // its lower half
  static Register load(const void* from) { return _mm_loadl_epi64(static_cast<const __m128i*>(from)); }
  static void store(void* to, Register halves) { _mm_storel_epi64(static_cast<__m128i*>(to), halves); }
  static void stream(void* to, Register halves) {
    _mm_stream_si64(static_cast<long long*>(to), _mm_cvtsi128_si64(halves));
  }
  static Register all(std::uint16_t bits) { return _mm_set1_epi16(static_cast<short>(bits)); }
  static std::uint16_t first(Register halves) { return static_cast<std::uint16_t>(_mm_cvtsi128_si32(halves)); }
  static WideBits spread(Register halves) {
    return reinterpret_cast<WideBits>(_mm_unpacklo_epi16(halves, _mm_setzero_si128()));
  }
  static Register gather(WideBits lanes) {
    // The instruction saturates signed numbers: their upper half is made a copy of the sign.
    const __m128i extended = _mm_srai_epi32(_mm_slli_epi32(reinterpret_cast<__m128i>(lanes), 16), 16);
    return _mm_packs_epi32(extended, extended);
  }
#else
  using Register = uint16x4_t;
  static Register load(const void* from) { return vld1_u16(static_cast<const std::uint16_t*>(from)); }
  static void store(void* to, Register halves) { vst1_u16(static_cast<std::uint16_t*>(to), halves); }
  static void stream(void* to, Register halves) { store(to, halves); }
  static Register all(std::uint16_t bits) { return vdup_n_u16(bits); }
  static std::uint16_t first(Register halves) { return vget_lane_u16(halves, 0); }
  static WideBits spread(Register halves) { return reinterpret_cast<WideBits>(vmovl_u16(halves)); }
  static Register gather(WideBits lanes) { return vmovn_u32(reinterpret_cast<uint32x4_t>(lanes)); }
#endif
};

/// The conversions of one type.
template <Isa isa, typename T>
struct Conversion;

template <Isa isa>
struct Conversion<isa, Bf16> {
  using Register = typename Halves<isa>::Register;

  static WideFloats widen(Register halves) { return reinterpret_cast<WideFloats>(Halves<isa>::spread(halves) << 16); }
  static Register narrow(WideFloats wide) {
    const auto bits = reinterpret_cast<WideBits>(wide);
    const WideBits upper = bits >> 16;
    const WideBits rounded = (bits + 0x7FFF + (upper & 1)) >> 16;
    return Halves<isa>::gather(wide != wide ? upper | 0x40 : rounded);
  }
};

#if defined(__F16C__)
template <Isa isa>
struct Conversion<isa, Fp16> {
  using Register = typename Halves<isa>::Register;
  static constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

#if defined(__AVX512F__)
  static WideFloats widen(Register halves) { return reinterpret_cast<WideFloats>(_mm512_cvtph_ps(halves)); }
  static Register narrow(WideFloats wide) { return _mm512_cvtps_ph(reinterpret_cast<__m512>(wide), kNearest); }
#else
  static WideFloats widen(Register halves) { return reinterpret_cast<WideFloats>(_mm256_cvtph_ps(halves)); }
  static Register narrow(WideFloats wide) { return _mm256_cvtps_ph(reinterpret_cast<__m256>(wide), kNearest); }
#endif
};
#else
/// By shifts, as widened() and fp16_bits() do it one at a time.
template <Isa isa>
struct Conversion<isa, Fp16> {
  using Register = typename Halves<isa>::Register;

  static WideFloats widen(Register halves) {
    const WideBits bits = Halves<isa>::spread(halves);
    const WideBits magnitude = (bits & 0x7FFF) << 13;
    const auto scaled = reinterpret_cast<WideBits>(reinterpret_cast<WideFloats>(magnitude) * 0x1p112F);
    const WideBits special = magnitude | 0x7F800000;
    const WideBits wide = reinterpret_cast<WideSigned>(magnitude) >= 0x7C00 << 13 ? special : scaled;
    return reinterpret_cast<WideFloats>(wide | (bits & 0x8000) << 16);
  }
  static Register narrow(WideFloats wide) {
    const auto bits = reinterpret_cast<WideBits>(wide);
    const WideBits magnitude = bits & 0x7FFFFFFF;
    const auto compared = reinterpret_cast<WideSigned>(magnitude);
    const WideBits normal = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    const WideBits subnormal = reinterpret_cast<WideBits>(reinterpret_cast<WideFloats>(magnitude) + 0.5F) - 0x3F000000;
    const WideBits nan = (magnitude >> 13 & 0x3FF) | 0x7E00;
    WideBits rounded = compared < 0x38800000 ? subnormal : normal;
    rounded = compared >= 0x477FF000 ? WideBits{} + 0x7C00 : rounded;
    rounded = compared > 0x7F800000 ? nan : rounded;
    return Halves<isa>::gather(rounded | (bits >> 16 & 0x8000));
  }
};
#endif

}  // namespace roofline
