// Streams in GCC's vector types. Non-temporal stores need intrinsics (GCC has no vector-type form), or on AArch64,
// which stores register pairs, inline assembly. Blocks of 1 KiB keep enough loads in flight to cover the latency of
// L1, and let DRAM serve the reads of a page together before it switches to writes (triad 51 GB/s; 50 with 512
// bytes, 49 with 2 KiB).
#include "kernels/calibration/cpu/stream.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roofline {
namespace {

using Words [[gnu::vector_size(kVectorBytes)]] = std::uint64_t;
using Doubles [[gnu::vector_size(kVectorBytes)]] = double;
constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kLine = 64;
constexpr int kVectors = kBlock / kVectorBytes;  // of a block
constexpr std::int64_t kAhead = 16384;  // 4 KiB are enough for two cores, 16 KiB are 1 to 3 % better on sixteen

/// Non-temporal stores of x86-64 are weakly ordered, so the end of a launch must fence them. AArch64's are ordinary
/// stores with a hint.
void finish_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <bool kNonTemporal>
inline void put(Words* to, Words value) {
#if defined(__x86_64__)
  if constexpr (kNonTemporal) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#else
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#endif
    return;
  }
#endif
  *to = value;
}

/// value(v) for all vectors v of a block.
template <bool kNonTemporal, typename Value>
inline void put_block(Words* to, Value value) {
#if defined(__aarch64__)
  if constexpr (kNonTemporal) {
#pragma GCC unroll 64
    for (int v = 0; v < kVectors; v += 2) {
      asm("stnp %q1, %q2, %0" : "=Q"(*reinterpret_cast<Words(*)[2]>(to + v)) : "w"(value(v)), "w"(value(v + 1)));
    }
    return;
  }
#endif
#pragma GCC unroll 64
  for (int v = 0; v < kVectors; ++v) put<kNonTemporal>(to + v, value(v));
}

/// One prefetch per line, for the block `kAhead` further on; harmless past the end of the range.
template <bool kPrefetch, std::int64_t kBytes = kBlock>
inline void fetch_ahead(const Words* at) {
  if constexpr (!kPrefetch) return;
#pragma GCC unroll 16
  for (std::int64_t line = 0; line < kBytes; line += kLine) {
    __builtin_prefetch(reinterpret_cast<const char*>(at) + kAhead + line, 0, 2);
  }
}

/// Prevents the compiler from merging two equal passes.
inline void next_pass() { asm volatile("" : : : "memory"); }

/// A load that the compiler neither removes nor reorders: hardware prefetchers depend on the order of accesses
/// (0.65 of the rate from a Zen 5's L2 in the compiler's order).
inline Words load(const Words* at) {
  Words words;
#if defined(__AVX512F__)
  asm volatile("vmovdqa64 %1, %0" : "=v"(words) : "m"(*at));
#elif defined(__AVX2__)
  asm volatile("vmovdqa %1, %0" : "=x"(words) : "m"(*at));
#elif defined(__x86_64__)
  asm volatile("movdqa %1, %0" : "=x"(words) : "m"(*at));
#else
  asm volatile("ldr %q0, %1" : "=w"(words) : "m"(*at));
#endif
  return words;
}

constexpr int kLanes = kVectorBytes / 8;
constexpr int kGroups = kStreamColumns / kLanes;  // vectors that hold the columns
constexpr int kAll = -1;

/// True if a pass adds that group of columns to the checksum: a quarter of them, or all.
constexpr bool is_checked(int quarter, int group) { return quarter == kAll || group * 4 / kGroups == quarter; }

template <int kStreams, bool kPrefetch, int kQuarter>
inline void read_once(const Words* at, std::int64_t bytes, Words (&sum)[kGroups]) {
  // Long blocks are faster for AVX2 from L2 (250 instead of 210 GB/s), short ones for AVX-512 from L1 (430 instead
  // of 415).
  constexpr std::int64_t kReadBlock = kVectorBytes == 64 ? 512 : 2048 / kStreams;
  constexpr int kReadVectors = kReadBlock / kVectorBytes;
  constexpr int kChains = kGroups == 8 ? 1 : 2;
  const std::int64_t blocks = bytes / kStreams / kReadBlock;
  Words chain[kChains][kGroups] = {};
  next_pass();
  for (std::int64_t block = 0; block < blocks; ++block, at += kReadVectors) {
#pragma GCC unroll 4
    for (int stream = 0; stream < kStreams; ++stream) {
      const Words* from = at + stream * blocks * kReadVectors;
      fetch_ahead<kPrefetch, kReadBlock>(from);
#pragma GCC unroll 64
      for (int v = 0; v < kReadVectors; v += 2 * kGroups) {
        Words(&sums)[kGroups] = chain[v / (2 * kGroups) % kChains];
        Words first[kGroups];
#pragma GCC unroll 16
        for (int i = 0; i < 2 * kGroups; ++i) {
          const int g = i % kGroups;
          const Words words = load(from + v + i);
          if (!is_checked(kQuarter, g)) continue;
          if (kVectorBytes < 64) {
            sums[g] ^= words;
          } else if (i < kGroups) {
            first[g] = words;
          } else {
            sums[g] ^= first[g] ^ words;
          }
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) {
    if (!is_checked(kQuarter, g)) continue;
    if constexpr (kChains == 2) chain[0][g] ^= chain[1][g];
    sum[g] += kQuarter == kAll ? chain[0][g] : chain[0][g] * 4;
  }
}

/// If each load is followed by an operation, the loads that a core can start saturate its vector ports: 350 instead
/// of 430 GB/s from L1 with AVX-512, 210 instead of 300 with AVX2. AVX-512 has a three-operand exclusive or, so
/// that two loads share one. Below it, passes over near sets go in groups of four: each loads everything and checks
/// a quarter of the columns, weighted by four.
template <int kStreams, bool kPrefetch>
std::uint64_t read(const void* data, std::int64_t bytes, std::int64_t passes) {
  const Words* at = static_cast<const Words*>(data);
  Words sum[kGroups] = {};
  std::int64_t pass = 0;
  if constexpr (kVectorBytes < 64 && !kPrefetch) {
    for (; pass + 4 <= passes; pass += 4) {
      read_once<kStreams, kPrefetch, 0>(at, bytes, sum);
      read_once<kStreams, kPrefetch, 1>(at, bytes, sum);
      read_once<kStreams, kPrefetch, 2>(at, bytes, sum);
      read_once<kStreams, kPrefetch, 3>(at, bytes, sum);
    }
  }
  for (; pass < passes; ++pass) read_once<kStreams, kPrefetch, kAll>(at, bytes, sum);
  std::uint64_t total = 0;
  for (const Words& vector : sum) {
    for (int lane = 0; lane < kLanes; ++lane) total += vector[lane];
  }
  return total;
}

template <bool kNonTemporal>
void write(void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value) {
  const Words values = Words{} + value;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    Words* at = static_cast<Words*>(to);
    next_pass();
    for (std::int64_t block = 0; block < bytes / kBlock; ++block, at += kVectors) {
      put_block<kNonTemporal>(at, [&](int) { return values; });
      asm volatile("" : : : "memory");  // keeps the compiler from calling memset instead
    }
  }
}

template <bool kPrefetch, bool kNonTemporal>
void copy(void* to, const void* from, std::int64_t bytes, std::int64_t passes) {
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    Words* target = static_cast<Words*>(to);
    const Words* source = static_cast<const Words*>(from);
    for (std::int64_t block = 0; block < bytes / kBlock; ++block, target += kVectors, source += kVectors) {
      fetch_ahead<kPrefetch>(source);
      put_block<kNonTemporal>(target, [&](int v) { return source[v]; });
      asm volatile("" : : : "memory");  // keeps the compiler from calling memcpy instead
    }
  }
}

template <bool kPrefetch, bool kNonTemporal>
void triad(double* to, const double* b, const double* c, double factor, std::int64_t bytes, std::int64_t passes) {
  const Doubles factors = Doubles{} + factor;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    Words* target = reinterpret_cast<Words*>(to);
    const Doubles* left = reinterpret_cast<const Doubles*>(b);
    const Doubles* right = reinterpret_cast<const Doubles*>(c);
    next_pass();
    for (std::int64_t block = 0; block < bytes / kBlock; ++block) {
      fetch_ahead<kPrefetch>(reinterpret_cast<const Words*>(left));
      fetch_ahead<kPrefetch>(reinterpret_cast<const Words*>(right));
      put_block<kNonTemporal>(target, [&](int v) { return reinterpret_cast<Words>(left[v] + factors * right[v]); });
      target += kVectors, left += kVectors, right += kVectors;
    }
  }
}

/// In place, kStreams parts of the range in turn, a block of each. Non-temporal stores would evict the line that was
/// loaded a moment ago. An update has no `from`, an accumulation no stamp.
template <int kStreams, bool kPrefetch, bool kAccumulate>
void rewrite(Words* to, const Words* from, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp) {
  const Words kept = Words{} + kKeptBits, stamps = (Words{} + stamp) & ~kept;
  const std::int64_t blocks = bytes / kStreams / kBlock;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    next_pass();
    for (std::int64_t block = 0; block < blocks; ++block) {
#pragma GCC unroll 4
      for (int stream = 0; stream < kStreams; ++stream) {
        const std::int64_t first = (stream * blocks + block) * kVectors;
        fetch_ahead<kPrefetch>(to + first);
        if constexpr (kAccumulate) fetch_ahead<kPrefetch>(from + first);
        put_block<false>(to + first, [&](int v) {
          const Words old = load(to + first + v);
          if constexpr (kAccumulate) return old + load(from + first + v);
          return (old & kept) | stamps;
        });
      }
    }
  }
}

template <bool kAccumulate>
void rewrite(LoadKind kind, void* to, const void* from, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp) {
  Words* const target = static_cast<Words*>(to);
  const Words* const source = static_cast<const Words*>(from);
  if (kind == LoadKind::plain) return rewrite<1, false, kAccumulate>(target, source, bytes, passes, stamp);
  if (kind == LoadKind::prefetched) return rewrite<1, true, kAccumulate>(target, source, bytes, passes, stamp);
  rewrite<2, true, kAccumulate>(target, source, bytes, passes, stamp);
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
  write<false>(to, bytes, 1, (value & 0xff) * 0x0101010101010101ULL);
}
void string_copy(void* to, const void* from, std::int64_t bytes) { copy<false, false>(to, from, bytes, 1); }
#endif

/// Calls `f.operator()<prefetch, non-temporal>()`.
template <typename F>
void with_kinds(LoadKind load, StoreKind store, F&& f) {
  const bool prefetch = load != LoadKind::plain;
  if (store == StoreKind::regular) {
    if (prefetch) return f.template operator()<true, false>();
    return f.template operator()<false, false>();
  }
  if (prefetch) {
    f.template operator()<true, true>();
  } else {
    f.template operator()<false, true>();
  }
  finish_stores();
}

}  // namespace

template <>
std::uint64_t stream_read<kIsa>(LoadKind load, const void* data, std::int64_t bytes, std::int64_t passes) {
  if (load == LoadKind::four_streams) return read<4, true>(data, bytes, passes);
  if (load == LoadKind::two_streams) return read<2, true>(data, bytes, passes);
  if (load == LoadKind::prefetched) return read<1, true>(data, bytes, passes);
  return read<1, false>(data, bytes, passes);
}

template <>
void stream_write<kIsa>(StoreKind store, void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value) {
  if (store == StoreKind::string) {
    for (std::int64_t pass = 0; pass < passes; ++pass) string_write(to, bytes, value);
  } else if (store == StoreKind::regular) {
    write<false>(to, bytes, passes, value);
  } else {
    write<true>(to, bytes, passes, value);
    finish_stores();
  }
}

template <>
void stream_copy<kIsa>(LoadKind load, StoreKind store, void* to, const void* from, std::int64_t bytes,
                       std::int64_t passes) {
  if (store == StoreKind::string) {
    for (std::int64_t pass = 0; pass < passes; ++pass) string_copy(to, from, bytes);
    return;
  }
  with_kinds(load, store,
             [&]<bool prefetch, bool non_temporal>() { copy<prefetch, non_temporal>(to, from, bytes, passes); });
}

template <>
void stream_update<kIsa>(LoadKind load, void* data, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp) {
  rewrite<false>(load, data, nullptr, bytes, passes, stamp);
}

template <>
void stream_accumulate<kIsa>(LoadKind load, void* to, const void* from, std::int64_t bytes, std::int64_t passes) {
  rewrite<true>(load, to, from, bytes, passes, 0);
}

template <>
void stream_triad<kIsa>(LoadKind load, StoreKind store, double* to, const double* b, const double* c, double factor,
                        std::int64_t bytes, std::int64_t passes) {
  with_kinds(load, store, [&]<bool prefetch, bool non_temporal>() {
    triad<prefetch, non_temporal>(to, b, c, factor, bytes, passes);
  });
}

}  // namespace roofline
