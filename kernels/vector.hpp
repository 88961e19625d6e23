// Vectors of the level that a *.simd.cpp is compiled for, over Eigen's packets: thin names, and the one
// operation that Eigen lacks, the non-temporal store. Only for *.simd.cpp files.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "device/cpu/isa.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace roofline {

/// Vector arithmetic on T at level `isa`. The level is a parameter so that each has symbols of its own.
template <Isa isa, typename T>
struct Vector {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr std::int64_t kLanes = Eigen::internal::packet_traits<T>::size;

  static Packet load(const T* from) { return Eigen::internal::ploadu<Packet>(from); }
  static void store(T* to, Packet value) { Eigen::internal::pstoreu(to, value); }
  static Packet all(T value) { return Eigen::internal::pset1<Packet>(value); }
  static Packet add(Packet a, Packet b) { return Eigen::internal::padd(a, b); }
  static Packet subtract(Packet a, Packet b) { return Eigen::internal::psub(a, b); }
  static Packet multiply(Packet a, Packet b) { return Eigen::internal::pmul(a, b); }
  static Packet multiply_add(Packet a, Packet b, Packet c) { return Eigen::internal::pmadd(a, b, c); }
  static Packet maximum(Packet a, Packet b) { return Eigen::internal::pmax(a, b); }
  /// e^a. In fp32 to 1.01 ulp for a from -86 to 88, and as at these ends beyond them: half of the instructions of
  /// Eigen's, which on a core with fast memory decide softmax's time.
  static Packet exponential(Packet a) {
    if constexpr (sizeof(T) == 4) {
      return short_exponential(a);
    } else {
      return Eigen::internal::pexp(a);
    }
  }
  static T sum(Packet a) { return Eigen::internal::predux(a); }
  static T largest(Packet a) { return Eigen::internal::predux_max(a); }

// GCC says that a vector type as a template argument loses its alignment; it is only looked up by it here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
  /// 2^n e^r with n the whole number nearest to a / ln 2. Adding 1.5 * 2^23 rounds to it and leaves it in the lowest
  /// bits, from where it goes into the exponent. The polynomial is Cephes' expf's.
  static Packet short_exponential(Packet a) {
    using Integers = typename Eigen::internal::unpacket_traits<Packet>::integer_packet;
    const auto bits = [](Packet value) { return Eigen::internal::preinterpret<Integers>(value); };
    const Packet round = all(T(12582912));
    const Packet x = Eigen::internal::pmin(Eigen::internal::pmax(a, all(T(-86))), all(T(88)));
    const Packet shifted = multiply_add(x, all(T(1.44269504088896341)), round);
    const Packet n = subtract(shifted, round);
    // ln 2 in two parts, the first of which has few enough bits for an exact product.
    const Packet r = multiply_add(n, all(T(2.12194440e-4)), multiply_add(n, all(T(-0.693359375)), x));
    Packet p = all(T(1.9875691500e-4));
    for (const double c : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1}) {
      p = multiply_add(p, r, all(T(c)));
    }
    p = add(multiply_add(multiply(p, r), r, r), all(T(1)));
    return Eigen::internal::preinterpret<Packet>(
        Eigen::internal::padd(bits(p), Eigen::internal::plogical_shift_left<23>(bits(shifted))));
  }
#pragma GCC diagnostic pop

  /// Past the caches, without reading the line first: a third less traffic for a copy. `to` must be
  /// aligned to the vector.
  static void stream(T* to, Packet value) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) _mm512_stream_ps(to, value);
    if constexpr (sizeof(T) == 8) _mm512_stream_pd(to, value);
#elif defined(__AVX__)
    if constexpr (sizeof(T) == 4) _mm256_stream_ps(to, value);
    if constexpr (sizeof(T) == 8) _mm256_stream_pd(to, value);
#elif defined(__SSE2__)
    if constexpr (sizeof(T) == 4) _mm_stream_ps(to, value);
    if constexpr (sizeof(T) == 8) _mm_stream_pd(to, value);
#else
    store(to, value);
#endif
  }

  /// Orders streamed stores before whatever tells another thread that they are done.
  static void fence() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
  }

  /// Elements before the first at `p` that is aligned to the vector.
  static std::int64_t misaligned(const T* p) {
    constexpr auto kBytes = static_cast<std::uintptr_t>(sizeof(Packet));
    const auto past = reinterpret_cast<std::uintptr_t>(p) % kBytes;
    return past == 0 ? 0 : static_cast<std::int64_t>((kBytes - past) / sizeof(T));
  }
};

/// Applies `f` to [begin, end) elements of x and puts the results into y: packets where y is aligned,
/// single elements (as a packet of equal ones) at the borders. `streamed` stores go past the caches.
template <Isa isa, typename T, bool streamed, typename F>
void map_elements(const T* x, T* y, std::int64_t count, F f) {
  using V = Vector<isa, T>;
  const auto one = [&](std::int64_t i) { y[i] = Eigen::internal::pfirst(f(V::all(x[i]))); };
  std::int64_t i = 0;
  for (const std::int64_t head = V::misaligned(y); i < head && i < count; ++i) one(i);
  for (; i + 4 * V::kLanes <= count; i += 4 * V::kLanes) {
    for (std::int64_t u = 0; u < 4; ++u) {
      const std::int64_t at = i + u * V::kLanes;
      if constexpr (streamed) {
        V::stream(y + at, f(V::load(x + at)));
      } else {
        V::store(y + at, f(V::load(x + at)));
      }
    }
  }
  for (; i < count; ++i) one(i);
}

}  // namespace roofline
