// Attention: the extents that its kernels and decode's need, and what the CPU's launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/factors.hpp"
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

/// Keys at a time, a multiple of each level's register tile: their scores, 32 KiB with AVX-512, are the right operand
/// of the second product, and long enough to write its sums back rarely.
inline constexpr std::int64_t kKeyBlock = 252;

/// Factors that a block of keys takes as pack_keys() leaves it, with its values: K's rows and V's columns in panels of
/// register tiles, which are 12 rows high at most.
template <typename Factor>
constexpr std::int64_t packed_block(std::int64_t d) {
  return kKeyBlock * steps_of<Factor>(d) + kKeyBlock / kProducts<Factor> * (d + 11);
}

/// Packs up to kKeyBlock keys and values, [keys × d] each.
template <Isa isa, typename T, typename Factor>
void pack_keys(const T* k, const T* v, std::int64_t keys, std::int64_t d, Factor* to);

/// Values that attention_rows() needs as a workspace, for kQueryBlock queries: Q and the output transposed, each
/// query's peak and sum, and a block of scores of up to 64 queries, also as factors.
constexpr std::int64_t attention_workspace(std::int64_t d) { return kQueryBlock * (2 * d + 2) + kKeyBlock * 2 * 64; }

/// O = softmax(Q K^T / sqrt(d)) V for up to kQueryBlock rows of one head: q and o are [queries × d], `head` holds its
/// keys, block after block as packed. With `causal` the queries are the last ones of the `keys`: the i-th sees all but
/// the last queries - 1 - i. `workspace` is aligned to 64 bytes.
template <Isa isa, typename T, typename Factor>
void attention_rows(const T* q, const Factor* head, T* o, Summed<Factor>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
