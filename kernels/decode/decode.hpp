// Decode attention: its extents, and what the CPU's launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "op/workload.hpp"

namespace roofline {

struct Decoded {
  std::int64_t heads;  ///< of all batches together
  std::int64_t group;  ///< consecutive heads that share keys and values
  std::int64_t context, d;

  std::int64_t kv_heads() const { return heads / group; }
  double scores() const { return static_cast<double>(heads) * static_cast<double>(context); }
};

/// The extents of a decode workload. Shapes leave out `kv_heads` where it is 0: as many as heads.
Decoded decoded(const Workload& workload);

/// What a piece of the context contributes to the output of one head: d sums of weights times values, the sum of the
/// weights, and the score that the weights are relative to, e^(score - peak), in this order. Then unused elements, so
/// that every part begins at a cache line.
inline std::int64_t part_size(std::int64_t d) { return (d + 2 + 15) / 16 * 16; }

/// The parts of `heads` queries, q[heads × d], from k and v[keys × d]: parts[heads × part_size(d)].
template <Isa isa, typename T>
void decode_part(const T* q, const T* k, const T* v, T* parts, std::int64_t heads, std::int64_t keys, std::int64_t d);

}  // namespace roofline
