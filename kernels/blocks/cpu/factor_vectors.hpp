// Factors of several elements (factors.hpp) as vectors of register_tile.hpp, at the level of a *.simd.cpp: a lane
// holds a factor, or a sum of products. Instructions that are not part of a level are inline assembly;
// missing(DotUnit) in device/cpu/isa.hpp says where they may run. Include only in *.simd.cpp files.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/blocks/cpu/factors.hpp"
#include "kernels/blocks/cpu/vector.hpp"

namespace roofline {

/// Two-step fallback without such an instruction.
template <Isa isa, typename T>
requires std::is_same_v<T, Bf16Pair>
struct Vector<isa, T> {
  using Sums = Vector<isa, float>;
  using Packet = typename Sums::Packet;
  static constexpr std::int64_t kLanes = Sums::kLanes;

  static Packet load(const Bf16Pair* from) {
    Packet packet;
    std::memcpy(&packet, from, sizeof packet);
    return packet;
  }
  static Packet load(const float* from) { return Sums::load(from); }
  static void store(float* to, Packet sums) { Sums::store(to, sums); }
  static Packet add(Packet a, Packet b) { return Sums::add(a, b); }
  static Packet all(Bf16Pair pair) { return Sums::all(std::bit_cast<float>(pair)); }

  static Packet multiply_add(Packet a, Packet b, Packet sums) {
#if defined(__AVX512F__)
    asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
    return sums;
#else
    const WidePair<isa> left = Conversion<isa, Bf16>::widen(&a);
    const WidePair<isa> right = Conversion<isa, Bf16>::widen(&b);
    const WideFloats products = left.first * right.first + left.second * right.second;
    return Sums::add(sums, reinterpret_cast<Packet>(products));
#endif
  }
};

template <Isa isa, typename T>
requires kInt8Factor<T>
struct Vector<isa, T> {
  using Packet = WideSigned;
  static constexpr std::int64_t kLanes = kVectorBytes / 4;

  static Packet load(const void* from) {
    Packet packet;
    std::memcpy(&packet, from, sizeof packet);
    return packet;
  }
  static void store(std::int32_t* to, Packet sums) { std::memcpy(to, &sums, sizeof sums); }
  static Packet add(Packet a, Packet b) { return a + b; }
  static Packet all(T factor) { return Packet{} + std::bit_cast<std::int32_t>(factor); }

  static Packet multiply_add(Packet a, Packet b, Packet sums) {
    add_products(sums, a, b, T{});
    return sums;
  }

 private:
  static void add_products(Packet& sums, Packet a, Packet b, Int16Pair) {
#if defined(__AVX512BW__)
    sums += reinterpret_cast<Packet>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    sums += reinterpret_cast<Packet>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
    sums += reinterpret_cast<Packet>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif defined(__aarch64__)
    // Products of four lanes in eight, with neighbours added.
    const auto left = reinterpret_cast<int16x8_t>(a);
    const auto right = reinterpret_cast<int16x8_t>(b);
    const int32x4_t lower = vmull_s16(vget_low_s16(left), vget_low_s16(right));
    sums += reinterpret_cast<Packet>(vpaddq_s32(lower, vmull_high_s16(left, right)));
#else
    sums += (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
  }

  static void add_products(Packet& sums, Packet a, Packet b, Int8Quad) {
#if defined(__AVX512F__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
#elif defined(__AVX2__)
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b));
#elif defined(__aarch64__)
    asm(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(a), "w"(b));
#else
    (void)sums, (void)a, (void)b;
#endif
  }
};

/// fp32 registers whose lanes are paired with those of the other, rounded.
template <Isa isa>
void store_pairs(typename Vector<isa, float>::Packet first, typename Vector<isa, float>::Packet second, Bf16Pair* to) {
#if defined(__AVX512BW__)
  // All of the first, then all of the second.
  __m512i pairs;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(pairs) : "v"(first), "v"(second));
  alignas(64) static constexpr auto kInTurn = [] {
    std::array<std::uint16_t, 32> from{};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 16);
    return from;
  }();
  pairs = _mm512_permutexvar_epi16(_mm512_load_si512(kInTurn.data()), pairs);
#else
  const WideBits pairs =
      Conversion<isa, Bf16>::narrow({reinterpret_cast<WideFloats>(first), reinterpret_cast<WideFloats>(second)});
#endif
  std::memcpy(to, &pairs, sizeof pairs);
}

}  // namespace roofline
