// Decode attention: what the CPU's launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.hpp"

namespace roofline {

/// The extents of a decode workload: attention of one query a head, its context the keys.
Attended decoded(const Workload& workload);

/// What a piece of the context contributes to the output of one head: d sums of weights times values, the sum of the
/// weights, and the score that the weights are relative to, e^(score - peak), in this order. Then unused elements, so
/// that every part begins at a cache line.
inline std::int64_t part_size(std::int64_t d) { return (d + 2 + 15) / 16 * 16; }

/// The parts of `heads` queries, q[heads × d], from k and v[keys × d]: parts[heads × part_size(d)].
template <Isa isa, typename T>
void decode_part(const T* q, const T* k, const T* v, Computed<T>* parts, std::int64_t heads, std::int64_t keys,
                 std::int64_t d);

}  // namespace roofline
