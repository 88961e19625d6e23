// Kernels of the CPU's bandwidth ceilings: read, write, copy, triad, and update and accumulate in place over a
// contiguous range, compiled once per instruction-set level (stream.simd.cpp). Each call does one worker's part.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Ranges start at multiples of a cache line and are whole multiples of this many bytes.
inline constexpr std::int64_t kStreamGrain = 4096;

inline constexpr int kStreamColumns = 16;

/// How a kernel loads. `prefetched` prefetches lines 16 KiB ahead into L2: a core has 16 line-fill buffers for L1,
/// which non-temporal stores use as well, and three times as many for L2. Measured on an Emerald Rapids: copy from
/// DRAM 56 instead of 45 GB/s on 2 cores, read 240 instead of 215 GB/s on 16. `two_streams` and `four_streams` also go
/// through the halves or quarters of the range in turn: four are 3 % faster than one on 2 cores and slower on 16, where
/// two are 2 % faster. Copies and triads have one stream of each array, and those in place at most two.
enum class LoadKind : std::uint8_t { plain, prefetched, two_streams, four_streams };

/// How a kernel stores: through the caches (each line is read before it is overwritten), with non-temporal stores,
/// or with string instructions (rep movsb/stosb, x86-64 only).
enum class StoreKind : std::uint8_t { regular, non_temporal, string };

/// Reads `bytes` bytes `passes` times. Returns a checksum: 64-bit word i is in column i mod kStreamColumns, the
/// words of a column are combined by exclusive or, and the results of all columns and passes are added.
template <Isa>
std::uint64_t stream_read(LoadKind load, const void* data, std::int64_t bytes, std::int64_t passes);

/// Sets every 64-bit word to `value`; `string` sets every byte to its lowest byte.
template <Isa>
void stream_write(StoreKind store, void* to, std::int64_t bytes, std::int64_t passes, std::uint64_t value);

template <Isa>
void stream_copy(LoadKind load, StoreKind store, void* to, const void* from, std::int64_t bytes, std::int64_t passes);

/// The bits of a word that stream_update() keeps; it replaces the others.
inline constexpr std::uint64_t kKeptBits = 0xffffffff00000000;

/// In place: of every 64-bit word the upper half stays, and the lower half becomes that of `stamp`. Regular stores.
template <Isa>
void stream_update(LoadKind load, void* data, std::int64_t bytes, std::int64_t passes, std::uint64_t stamp);

/// In place: adds every 64-bit word of `from` to that of `to`, modulo 2^64. Regular stores.
template <Isa>
void stream_accumulate(LoadKind load, void* to, const void* from, std::int64_t bytes, std::int64_t passes);

/// to[i] = b[i] + factor · c[i] in fp64; no `string`.
template <Isa>
void stream_triad(LoadKind load, StoreKind store, double* to, const double* b, const double* c, double factor,
                  std::int64_t bytes, std::int64_t passes);

}  // namespace roofline
