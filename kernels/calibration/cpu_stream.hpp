// The kernels behind the bandwidth ceilings of the CPU: read, write, copy and triad over a contiguous range,
// compiled once for each instruction-set level (cpu_stream.simd.cpp). Each call does one worker's share.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Ranges start at multiples of a cache line and are whole blocks of this many bytes.
inline constexpr std::int64_t kStreamBlock = 512;

/// How a kernel stores: through the caches (each line is read before it is overwritten), past them with
/// non-temporal stores, or by the CPU's own string instructions (rep movsb/stosb, x86-64 only).
enum class StoreKind : std::uint8_t { regular, non_temporal, string };

/// The sum modulo 2^64 of the 64-bit words of `bytes` bytes, read `passes` times over.
template <Isa>
std::uint64_t stream_read(const void* data, std::int64_t bytes, std::int64_t passes);

/// The same with a software prefetch `kPrefetchBytes` ahead: hardware prefetchers stop at page borders.
template <Isa>
std::uint64_t stream_read_prefetched(const void* data, std::int64_t bytes, std::int64_t passes);

/// Sets every 64-bit word to `value`; `string` sets every byte to its lowest byte.
template <Isa>
void stream_write(StoreKind store, void* to, std::int64_t bytes, std::uint64_t value);

template <Isa>
void stream_copy(StoreKind store, void* to, const void* from, std::int64_t bytes);

/// to[i] = b[i] + factor · c[i] in fp64; no `string`.
template <Isa>
void stream_triad(StoreKind store, double* to, const double* b, const double* c, double factor, std::int64_t bytes);

}  // namespace roofline
