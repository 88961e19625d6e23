// Attention on the CPU: what the launcher sees of the vector kernels.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"

namespace roofline {

/// Queries that one call works on at a time, and the unit in which threads share a head.
inline constexpr std::int64_t kQueryBlock = 128;

/// O = softmax(Q K^T / sqrt(d)) V for `queries` rows of one head: q and o are [queries × d], k and v
/// [keys × d]. Never holds more than a block of scores.
template <Isa isa, typename T>
void attention_rows(const T* q, const T* k, const T* v, T* o, std::int64_t queries, std::int64_t keys, std::int64_t d);

}  // namespace roofline
