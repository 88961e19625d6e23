// Vectors of the level that a *.simd.cpp is compiled for, over Eigen's packets: thin names, and what Eigen lacks, the
// non-temporal store and elements of 16 bits, which are fp32 in registers. Only for *.simd.cpp files.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_vector.hpp"

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
  static Packet divide(Packet a, Packet b) { return Eigen::internal::pdiv(a, b); }
  static Packet multiply_add(Packet a, Packet b, Packet c) { return Eigen::internal::pmadd(a, b, c); }
  static Packet maximum(Packet a, Packet b) { return Eigen::internal::pmax(a, b); }
  /// e^a. In fp32 to 1.5 + 1.3 |a| ulp, about as if a had been rounded once more; below -86 and above 88 AVX-512 goes
  /// on to 0 and infinity, the others stay where they are. Half of the instructions of Eigen's, which on a core with
  /// fast memory decide softmax's time.
  static Packet exponential(Packet a) {
    if constexpr (sizeof(T) == 4) {
      return power_of_two(multiply(a, all(T(1.44269504088896341))));
    } else {
      return Eigen::internal::pexp(a);
    }
  }
  /// All lanes as the element at `from`, and an element as the first lane: for the borders of what vectors fill.
  static Packet spread(const T* from) { return all(*from); }
  static void store_first(T* to, Packet value) { *to = Eigen::internal::pfirst(value); }
  static T get(const T* from) { return *from; }
  static void put(T* to, T value) { *to = value; }
  static T sum(Packet a) { return Eigen::internal::predux(a); }
  static T largest(Packet a) { return Eigen::internal::predux_max(a); }

// GCC says that a vector type as a template argument loses its alignment; it is only looked up by it here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
  /// 2^t is 2^n 2^r with n the whole number nearest to t. The polynomial errs least, relative to 2^r, among those that
  /// are 1 at r = 0: by 3e-9.
  static Packet power_of_two(Packet t) {
    const auto power = [](Packet r) {
      Packet p = all(T(1.5594678e-4));
      for (const double c : {1.3406643e-3, 9.6176928e-3, 5.5503104e-2, 2.4022652e-1, 6.9314724e-1, 1.0}) {
        p = multiply_add(p, r, all(T(c)));
      }
      return p;
    };
#if defined(__AVX512DQ__)
    const Packet r = _mm512_reduce_ps(t, _MM_FROUND_TO_NEAREST_INT);
    return _mm512_scalef_ps(power(r), subtract(t, r));
#else
    using Integers = typename Eigen::internal::unpacket_traits<Packet>::integer_packet;
    const auto bits = [](Packet value) { return Eigen::internal::preinterpret<Integers>(value); };
    // Adding 1.5 * 2^23 rounds to n and leaves it in the lowest bits, from where it goes into the exponent.
    const Packet round = all(T(12582912));
    t = Eigen::internal::pmin(Eigen::internal::pmax(t, all(T(-125))), all(T(127)));
    const Packet shifted = add(t, round);
    const Packet p = power(subtract(t, subtract(shifted, round)));
    return Eigen::internal::preinterpret<Packet>(
        Eigen::internal::padd(bits(p), Eigen::internal::plogical_shift_left<23>(bits(shifted))));
#endif
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

/// Elements of 16 bits, as many as a register has fp32 lanes: widened by every load, rounded by every store, and
/// computed in fp32 between them. A kernel on elements T and values Computed<T> is one text for all types.
template <Isa isa, typename T>
requires kSmallFloat<T>
struct Vector<isa, T> : Vector<isa, float> {
  using Wide = Vector<isa, float>;
  using typename Wide::Packet;

  static Packet load(const T* from) { return widen(Halves<isa>::load(from)); }
  static void store(T* to, Packet value) { Halves<isa>::store(to, narrow(value)); }
  static Packet spread(const T* from) { return widen(Halves<isa>::all(from->bits)); }
  static void store_first(T* to, Packet value) { to->bits = Halves<isa>::first(narrow(value)); }
  static float get(const T* from) { return Eigen::internal::pfirst(spread(from)); }
  static void put(T* to, float value) { store_first(to, Wide::all(value)); }

  /// As for wider elements, half a vector at a time; `to` must be aligned to that.
  static void stream(T* to, Packet value) { Halves<isa>::stream(to, narrow(value)); }

  static std::int64_t misaligned(const T* p) {
    constexpr auto kBytes = static_cast<std::uintptr_t>(Wide::kLanes) * sizeof(T);
    const auto past = reinterpret_cast<std::uintptr_t>(p) % kBytes;
    return past == 0 ? 0 : static_cast<std::int64_t>((kBytes - past) / sizeof(T));
  }

 private:
  using Register = typename Halves<isa>::Register;
  static Packet widen(Register halves) { return reinterpret_cast<Packet>(Conversion<isa, T>::widen(halves)); }
  static Register narrow(Packet value) { return Conversion<isa, T>::narrow(reinterpret_cast<WideFloats>(value)); }
};

}  // namespace roofline
