// Vectors of the level of a *.simd.cpp over Eigen's packets: thin wrappers, and what Eigen lacks (non-temporal
// stores, and 16-bit elements, which are fp32 in registers). Include only in *.simd.cpp files.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_vector.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace roofline {

/// Vector arithmetic on T at level `isa`. The level is a parameter so that each has its own symbols.
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
  static constexpr T kLog2E = T(1.44269504088896341);

  /// e^a for several a at once: each is a chain of 11 dependent operations, and only the others fill its latency.
  /// In fp32 to 1.5 + 1.3 |a| ulp, about as if a had been rounded once more; below -86 and above 88 AVX-512
  /// continues to 0 and infinity, other levels saturate. Half of the instructions of Eigen's version, which
  /// limits softmax on a core with fast memory.
  template <std::size_t kCount>
  static void exponentials(Packet (&a)[kCount]) {
    powers<6>(a, kLog2E);
  }
  static Packet exponential(Packet a) {
    Packet one[] = {a};
    exponentials(one);
    return one[0];
  }

  /// Values between registers and a kernel's own memory, in element order or in register order.
  static Packet load_values(const T* from) { return load(from); }
  static void store_values(T* to, Packet value) { store(to, value); }
  static Packet take_back(const T* from) { return load(from); }
  static void put_by(T* to, Packet value) { store(to, value); }

  static T get(const T* from) { return *from; }
  static void put(T* to, T value) { *to = value; }
  static T sum(Packet a) { return Eigen::internal::predux(a); }
  static T largest(Packet a) { return Eigen::internal::predux_max(a); }

// GCC warns that a vector type as a template argument loses its alignment; here it is only looked up by it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
  /// (2^log2)^a. In fp32 as 2^n 2^r, n the floor of the exponent with AVX-512, otherwise the nearest integer.
  template <int kDegree, std::size_t kCount>
  static void powers(Packet (&a)[kCount], T log2) {
    if constexpr (sizeof(T) == 8) {
      for (Packet& p : a) p = Eigen::internal::pexp(multiply(p, all(log2 / kLog2E)));
    } else {
      Packet r[kCount], p[kCount];
#if defined(__AVX512DQ__)
      for (Packet& t : a) t = multiply(t, all(log2));
      for (std::size_t i = 0; i < kCount; ++i) r[i] = _mm512_reduce_ps(a[i], _MM_FROUND_TO_NEG_INF);
      small_powers<kDegree>(r, p);
      for (std::size_t i = 0; i < kCount; ++i) a[i] = _mm512_scalef_ps(p[i], a[i]);
#else
      using Integers = typename Eigen::internal::unpacket_traits<Packet>::integer_packet;
      const auto bits = [](Packet value) { return Eigen::internal::preinterpret<Integers>(value); };
      // Adding 1.5 * 2^23 rounds to n and leaves it in the lowest bits, from which it is shifted into the
      // exponent.
      const Packet round = all(T(12582912));
      Packet shifted[kCount];
      for (Packet& t : a) t = Eigen::internal::pmin(Eigen::internal::pmax(t, all(T(-125) / log2)), all(T(127) / log2));
      for (std::size_t i = 0; i < kCount; ++i) shifted[i] = multiply_add(a[i], all(log2), round);
      for (std::size_t i = 0; i < kCount; ++i) r[i] = subtract(round, shifted[i]);
      for (std::size_t i = 0; i < kCount; ++i) r[i] = multiply_add(a[i], all(log2), r[i]);
      small_powers<kDegree>(r, p);
      for (std::size_t i = 0; i < kCount; ++i) {
        a[i] = Eigen::internal::preinterpret<Packet>(
            Eigen::internal::padd(bits(p[i]), Eigen::internal::plogical_shift_left<23>(bits(shifted[i]))));
      }
#endif
    }
  }
  template <int kDegree = 6>
  static Packet power_of_two(Packet t) {
    Packet one[] = {t};
    powers<kDegree>(one, T(1));
    return one[0];
  }
#pragma GCC diagnostic pop

  /// Non-temporal store, without reading the line first: a third less traffic for a copy. `to` must be aligned to
  /// the vector.
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
#elif defined(__aarch64__)
    // There is no intrinsic and no such store for one register, so its halves are stored as a pair.
    const auto bits = reinterpret_cast<uint64x2_t>(value);
    asm("stnp %d1, %d2, %0" : "=Q"(*reinterpret_cast<Packet*>(to)) : "w"(bits), "w"(vdup_laneq_u64(bits, 1)));
#else
    store(to, value);
#endif
  }

  /// Orders streamed stores before whatever signals completion to another thread. AArch64 orders them with other
  /// stores.
  static void fence() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
  }

 private:
  /// 2^r for 0 <= r <= 1 with AVX-512, |r| <= 1/2 elsewhere. Minimax polynomials (relative error) that are 1 at r
  /// = 0: 3e-9 for degree 6, 4e-6 for degree 4, 9e-5 for degree 3 (with AVX-512; elsewhere 4e-4).
  template <int kDegree, std::size_t kCount>
  static void small_powers(const Packet (&r)[kCount], Packet (&p)[kCount]) {
#if defined(__AVX512DQ__)
    static constexpr double kThree[] = {7.7067042e-2, 2.2764499e-1, 6.9511679e-1, 1.0};
    static constexpr double kFour[] = {1.3426684e-2, 5.2242474e-2, 2.4128021e-1, 6.9304485e-1, 1.0};
    static constexpr double kSix[] = {2.1612915e-4, 1.2467847e-3, 9.6754516e-3, 5.5485281e-2,
                                      2.4022931e-1, 6.9314704e-1, 1.0};
#else
    static constexpr double kThree[] = {4.1698749e-2, 2.4203051e-1, 6.9576683e-1, 1.0};
    static constexpr double kFour[] = {9.5828533e-3, 5.5906425e-2, 2.4024099e-1, 6.9312419e-1, 1.0};
    static constexpr double kSix[] = {1.5594678e-4, 1.3406643e-3, 9.6176928e-3, 5.5503104e-2,
                                      2.4022652e-1, 6.9314724e-1, 1.0};
#endif
    const auto coefficient = [&](int k) {
      return all(T(kDegree == 3 ? kThree[k] : kDegree == 4 ? kFour[k] : kSix[k]));
    };
    for (Packet& value : p) value = coefficient(0);
#pragma GCC unroll 6
    for (int k = 1; k <= kDegree; ++k) {
      for (std::size_t i = 0; i < kCount; ++i) p[i] = multiply_add(p[i], r[i], coefficient(k));
    }
  }
};

/// A register of 16-bit elements: widened by every load, rounded by every store, and two fp32 registers in between.
/// A kernel on elements T and values Computed<T> has one source for all types.
template <Isa isa, typename T>
requires kSmallFloat<T>
struct Vector<isa, T> {
  using Wide = Vector<isa, float>;
  struct Packet {
    typename Wide::Packet first, second;
  };
  static constexpr std::int64_t kLanes = 2 * Wide::kLanes;

  static Packet load(const T* from) { return packet(By::widen(from)); }
  static void store(T* to, Packet a) { Wide::store(reinterpret_cast<float*>(to), narrow(a)); }
  static void stream(T* to, Packet a) { Wide::stream(reinterpret_cast<float*>(to), narrow(a)); }
  static Packet load_values(const float* from) {
    return packet(By::arranged(pair({Wide::load(from), Wide::load(from + Wide::kLanes)})));
  }
  static void store_values(float* to, Packet a) { put_by(to, packet(By::in_memory_order(pair(a)))); }
  static Packet take_back(const float* from) { return {Wide::load(from), Wide::load(from + Wide::kLanes)}; }
  static void put_by(float* to, Packet a) {
    Wide::store(to, a.first);
    Wide::store(to + Wide::kLanes, a.second);
  }
  static float get(const T* from) { return widened(*from); }
  static void put(T* to, float value) { *to = narrowed<T>(value); }

  static Packet all(float value) { return {Wide::all(value), Wide::all(value)}; }
  static Packet add(Packet a, Packet b) { return each(&Wide::add, a, b); }
  static Packet subtract(Packet a, Packet b) { return each(&Wide::subtract, a, b); }
  static Packet multiply(Packet a, Packet b) { return each(&Wide::multiply, a, b); }
  static Packet divide(Packet a, Packet b) { return each(&Wide::divide, a, b); }
  static Packet multiply_add(Packet a, Packet b, Packet c) { return each(&Wide::multiply_add, a, b, c); }
  static Packet maximum(Packet a, Packet b) { return each(&Wide::maximum, a, b); }
  /// To 3e-6, a hundredth of the rounding error of the store.
  static Packet power_of_two(Packet t) { return each(&Wide::template power_of_two<4>, t); }
  template <std::size_t kCount>
  static void exponentials(Packet (&a)[kCount]) {
    typename Wide::Packet wide[2 * kCount];
    for (std::size_t i = 0; i < kCount; ++i) wide[2 * i] = a[i].first, wide[2 * i + 1] = a[i].second;
    Wide::template powers<4>(wide, Wide::kLog2E);
    for (std::size_t i = 0; i < kCount; ++i) a[i] = {wide[2 * i], wide[2 * i + 1]};
  }
  static Packet exponential(Packet a) { return power_of_two(multiply(a, all(Wide::kLog2E))); }
  static float sum(Packet a) { return Wide::sum(Wide::add(a.first, a.second)); }
  static float largest(Packet a) { return Wide::largest(Wide::maximum(a.first, a.second)); }
  static void fence() { Wide::fence(); }

 private:
  using By = Conversion<isa, T>;
  template <typename F, typename... P>
  static Packet each(F f, P... a) {
    return {f(a.first...), f(a.second...)};
  }
  static Packet packet(WidePair<isa> a) {
    return {reinterpret_cast<typename Wide::Packet>(a.first), reinterpret_cast<typename Wide::Packet>(a.second)};
  }
  static WidePair<isa> pair(Packet a) {
    return {reinterpret_cast<WideFloats>(a.first), reinterpret_cast<WideFloats>(a.second)};
  }
  static typename Wide::Packet narrow(Packet a) { return reinterpret_cast<typename Wide::Packet>(By::narrow(pair(a))); }
};

/// Elements before the first one at `p` that is aligned to the vector.
template <typename V, typename T>
std::int64_t misaligned(const T* p) {
  constexpr auto kBytes = static_cast<std::uintptr_t>(V::kLanes) * sizeof(T);
  const auto past = reinterpret_cast<std::uintptr_t>(p) % kBytes;
  return past == 0 ? 0 : static_cast<std::int64_t>((kBytes - past) / sizeof(T));
}

/// The first `count` elements of a vector, for borders; `rest` for the others. Not inlined, because it would make
/// up most of every kernel.
template <typename V, typename T>
[[gnu::noinline]] typename V::Packet load_part(const T* from, std::int64_t count, Computed<T> rest) {
  Computed<T> values[V::kLanes];
  for (std::int64_t i = 0; i < V::kLanes; ++i) values[i] = i < count ? V::get(from + i) : rest;
  return V::load_values(values);
}
template <typename V, typename T>
[[gnu::noinline]] void store_part(T* to, std::int64_t count, typename V::Packet a) {
  Computed<T> values[V::kLanes];
  V::store_values(values, a);
  for (std::int64_t i = 0; i < count; ++i) V::put(to + i, values[i]);
}

}  // namespace roofline
