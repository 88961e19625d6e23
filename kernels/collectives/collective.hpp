// A collective as an op: its buffers, which rank's memory they lie in, its reference and its work. No CUDA header here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/op.hpp"

namespace roofline {

/// The shape's ranks.
std::int64_t ranks_of(const Workload& workload);

/// Whether one buffer of a rank is part of its other one.
bool is_in_place(const Workload& workload);

/// Whether it adds the ranks' values, in their own type.
bool adds_up(std::string_view collective);

/// What each rank gives to a collective and takes from it, by rank.
struct RankBuffers {
  std::vector<const void*> send;
  std::vector<void*> receive;
};

/// From the pointers to an op's tensors, in the order of Op::tensors. Those that are null (of ranks that another
/// process holds) stay null.
RankBuffers rank_buffers(const Workload& workload, std::span<void* const> tensors);

/// Bytes of bus bandwidth that a collective of `n` elements counts, and bytes of the main memory of the rank that moves
/// most of them.
Traffic network_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks);
Traffic memory_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks, bool in_place);

/// The tolerance of sums of so many values in [-1, 1], every one of which is rounded to `dtype`.
Tolerance rank_sum_tolerance(DType dtype, std::int64_t ranks);

}  // namespace roofline
