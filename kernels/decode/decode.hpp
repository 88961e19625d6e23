// Decode attention: declarations of the CPU's vector kernels.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.hpp"

namespace roofline {

/// Extents of a decode workload: attention of one query per head; the context is the keys.
Attended decoded(const Workload& workload);

/// A partial result of one head over a part of the context: d sums of weights times values, the sum of the weights,
/// and the score that the weights are relative to, e^(score - peak), in this order. Padded, so that every partial
/// result starts at a cache line.
inline std::int64_t part_size(std::int64_t d) { return (d + 2 + 15) / 16 * 16; }

/// The partial results of `heads` queries, q[heads × d], from k and v[keys × d]: parts[heads × part_size(d)].
template <Isa isa, typename T>
void decode_part(const T* q, const T* k, const T* v, Computed<T>* parts, std::int64_t heads, std::int64_t keys,
                 std::int64_t d);

}  // namespace roofline
