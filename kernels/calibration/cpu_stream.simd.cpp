// Streams in GCC's vector types; only the non-temporal stores need intrinsics (GCC has no vector-type form).
// Blocks of 512 bytes keep enough loads in flight to cover the latency of L1, and of DRAM with the prefetchers.
#include "kernels/calibration/cpu_stream.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roofline {
namespace {

typedef std::uint64_t Words __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));
constexpr int kVectors = kStreamBlock / kVectorBytes;  // of a block
constexpr std::int64_t kPrefetchBytes = 2048;

void store_non_temporal(Words* to, Words value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#else
  *to = value;
#endif
}

/// Non-temporal stores are ordered with nothing: the end of a launch must wait for them.
void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <bool kNonTemporal>
inline void put(Words* to, Words value) {
  if constexpr (kNonTemporal) {
    store_non_temporal(to, value);
  } else {
    *to = value;
  }
}

template <bool kPrefetch>
std::uint64_t read(const void* data, std::int64_t bytes, std::int64_t passes) {
  constexpr int kSums = 8;  // an addition takes a cycle, two or three are started in each
  Words sum[kSums] = {};
  const std::int64_t blocks = bytes / kStreamBlock;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const Words* at = static_cast<const Words*>(data);
    // The compiler must not find that every pass reads the same.
    asm volatile("" : "+r"(at) : : "memory");
    for (std::int64_t block = 0; block < blocks; ++block, at += kVectors) {
      if constexpr (kPrefetch) {
#pragma GCC unroll 8
        for (int line = 0; line < kStreamBlock / 64; ++line) {
          __builtin_prefetch(reinterpret_cast<const char*>(at) + kPrefetchBytes + line * 64, 0, 0);
        }
      }
#pragma GCC unroll 32
      for (int v = 0; v < kVectors; ++v) sum[v % kSums] += at[v];
    }
  }
  std::uint64_t total = 0;
  for (const Words& vector : sum) {
    for (int lane = 0; lane < kVectorBytes / 8; ++lane) total += vector[lane];
  }
  return total;
}

template <bool kNonTemporal>
void write(void* to, std::int64_t bytes, std::uint64_t value) {
  Words* at = static_cast<Words*>(to);
  const Words values = Words{} + value;
  for (std::int64_t block = 0; block < bytes / kStreamBlock; ++block, at += kVectors) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v) put<kNonTemporal>(at + v, values);
#if !defined(__x86_64__)
    asm volatile("" : : : "memory");
#endif
  }
}

template <bool kNonTemporal>
void copy(void* to, const void* from, std::int64_t bytes) {
  Words* target = static_cast<Words*>(to);
  const Words* source = static_cast<const Words*>(from);
  for (std::int64_t block = 0; block < bytes / kStreamBlock; ++block, target += kVectors, source += kVectors) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v) put<kNonTemporal>(target + v, source[v]);
    asm volatile("" : : : "memory");  // keeps the compiler from calling memcpy instead
  }
}

template <bool kNonTemporal>
void triad(double* to, const double* b, const double* c, double factor, std::int64_t bytes) {
  Words* target = reinterpret_cast<Words*>(to);
  const Doubles* left = reinterpret_cast<const Doubles*>(b);
  const Doubles* right = reinterpret_cast<const Doubles*>(c);
  const Doubles factors = Doubles{} + factor;
  for (std::int64_t block = 0; block < bytes / kStreamBlock; ++block) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v) {
      put<kNonTemporal>(target + v, reinterpret_cast<Words>(left[v] + factors * right[v]));
    }
    target += kVectors, left += kVectors, right += kVectors;
  }
}

#if defined(__x86_64__)
void string_write(void* to, std::int64_t bytes, std::uint64_t value) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(static_cast<unsigned char>(value)) : "memory");
}
void string_copy(void* to, const void* from, std::int64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
#else
void string_write(void* to, std::int64_t bytes, std::uint64_t value) {
  write<false>(to, bytes, (value & 0xff) * 0x0101010101010101ULL);
}
void string_copy(void* to, const void* from, std::int64_t bytes) { copy<false>(to, from, bytes); }
#endif

}  // namespace

template <>
std::uint64_t stream_read<kIsa>(const void* data, std::int64_t bytes, std::int64_t passes) {
  return read<false>(data, bytes, passes);
}

template <>
std::uint64_t stream_read_prefetched<kIsa>(const void* data, std::int64_t bytes, std::int64_t passes) {
  return read<true>(data, bytes, passes);
}

template <>
void stream_write<kIsa>(StoreKind store, void* to, std::int64_t bytes, std::uint64_t value) {
  if (store == StoreKind::string) return string_write(to, bytes, value);
  if (store == StoreKind::regular) return write<false>(to, bytes, value);
  write<true>(to, bytes, value);
  finish_stores();
}

template <>
void stream_copy<kIsa>(StoreKind store, void* to, const void* from, std::int64_t bytes) {
  if (store == StoreKind::string) return string_copy(to, from, bytes);
  if (store == StoreKind::regular) return copy<false>(to, from, bytes);
  copy<true>(to, from, bytes);
  finish_stores();
}

template <>
void stream_triad<kIsa>(StoreKind store, double* to, const double* b, const double* c, double factor,
                        std::int64_t bytes) {
  if (store != StoreKind::non_temporal) return triad<false>(to, b, c, factor, bytes);
  triad<true>(to, b, c, factor, bytes);
  finish_stores();
}

}  // namespace roofline
