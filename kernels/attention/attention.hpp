// Attention: the extents that its kernels and decode's need, and what the CPU's launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"
#include "op/workload.hpp"

namespace roofline {

struct Attended {
  std::int64_t heads;          ///< of all batches together: each is a product of its own
  std::int64_t group;          ///< consecutive heads that share keys and values
  std::int64_t queries, keys;  ///< of a head
  std::int64_t d;
  bool causal;  ///< query i sees keys 0 … i only

  std::int64_t kv_heads() const { return heads / group; }
  std::int64_t keys_of(std::int64_t query) const { return causal ? query + 1 : keys; }
  /// Products of a query and a key that must be computed.
  double scores() const {
    const auto all = static_cast<double>(keys);
    return static_cast<double>(heads) * (causal ? all * (all + 1) / 2 : static_cast<double>(queries) * all);
  }
};

/// The extents of an attention workload. Shapes leave out `causal` and `kv_heads` where they are 0.
Attended attended(const Workload& workload);

/// Queries that one call works on at a time, and the unit in which threads share a head.
inline constexpr std::int64_t kQueryBlock = 128;

/// Keys at a time: their scores, 16 KiB with AVX-512, wait in the L1 cache for the second product.
inline constexpr std::int64_t kKeyBlock = 64;

/// Values that attention_rows() needs as a workspace, for kQueryBlock queries: Q and the output transposed, each
/// query's peak and sum, a block of scores, and of 16-bit elements a block of keys and one of values, widened.
template <typename T>
std::int64_t attention_workspace(std::int64_t d) {
  return kQueryBlock * (2 * d + 2 + kKeyBlock) + (kSmallFloat<T> ? 2 * kKeyBlock * d : 0);
}

/// O = softmax(Q K^T / sqrt(d)) V for up to kQueryBlock rows of one head: q and o are [queries × d], k and v
/// [keys × d]. With `causal` the queries are the last ones of the keys: the i-th sees all but the last
/// queries - 1 - i. `workspace` is aligned to 64 bytes.
template <Isa isa, typename T>
void attention_rows(const T* q, const T* k, const T* v, T* o, Computed<T>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
