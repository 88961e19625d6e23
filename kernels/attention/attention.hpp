// Attention: extents for its kernels and decode's, and declarations of the CPU's vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/factors.hpp"
#include "op/workload.hpp"

namespace roofline {

struct Attended {
  std::int64_t heads;          /// of all batches together; each is a separate product
  std::int64_t group;          ///< consecutive heads that share keys and values
  std::int64_t queries, keys;  ///< of a head
  std::int64_t d;
  bool causal;  ///< query i sees keys 0 … i only

  std::int64_t kv_heads() const { return heads / group; }
  std::int64_t keys_of(std::int64_t query) const { return causal ? query + 1 : keys; }
  /// Query-key products that must be computed.
  double scores() const {
    const auto all = static_cast<double>(keys);
    return static_cast<double>(heads) * (causal ? all * (all + 1) / 2 : static_cast<double>(queries) * all);
  }
};

/// The extents of an attention workload. Shapes leave out `causal` and `kv_heads` where they are 0.
Attended attended(const Workload& workload);

/// Queries per call, and the granularity in which threads share a head.
inline constexpr std::int64_t kQueryBlock = 128;

/// Keys per block, a multiple of each level's register tile. Their scores, 32 KiB with AVX-512, are the right
/// operand of the second product; the block is long enough that its accumulators are seldom written back.
inline constexpr std::int64_t kKeyBlock = 252;

/// Factors per block of keys as pack_keys() writes them, values included: K's rows and V's columns in panels of
/// register tiles, at most 12 rows high.
template <typename Factor>
constexpr std::int64_t packed_block(std::int64_t d) {
  return kKeyBlock * steps_of<Factor>(d) + kKeyBlock / kProducts<Factor> * (d + 11);
}

/// Packs up to kKeyBlock keys and values, [keys × d] each.
template <Isa isa, typename T, typename Factor>
void pack_keys(const T* k, const T* v, std::int64_t keys, std::int64_t d, Factor* to);

/// Workspace of attention_rows() in values, for kQueryBlock queries: Q and the output transposed, maximum and sum
/// per query, and a block of scores of up to 64 queries, also as factors.
constexpr std::int64_t attention_workspace(std::int64_t d) { return kQueryBlock * (2 * d + 2) + kKeyBlock * 2 * 64; }

/// O = softmax(Q K^T / sqrt(d)) V for up to kQueryBlock rows of one head: q and o are [queries × d], `head` holds
/// its packed key blocks. With `causal` the queries are the last ones of the `keys`: the i-th sees all but the last
/// queries - 1 - i. `workspace` is aligned to 64 bytes.
template <Isa isa, typename T, typename Factor>
void attention_rows(const T* q, const Factor* head, T* o, Summed<Factor>* workspace, std::int64_t queries,
                    std::int64_t keys, std::int64_t d, bool causal);

}  // namespace roofline
