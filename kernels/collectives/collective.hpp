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

/// A collective of `n` elements, as nccl-tests counts them.
struct CollectiveShape {
  std::string_view collective;
  std::int64_t n = 0;
  std::int64_t ranks = 0;
  bool in_place = false;

  /// A rank's part, where its larger buffer has one for each rank.
  std::int64_t part() const { return n / ranks; }
  /// Elements of what a rank has afterwards.
  std::int64_t length() const { return collective == "reduce_scatter" && !in_place ? part() : n; }
};

/// Element `i` of what `rank` has afterwards is the sum of one or more of the elements before: add(rank, index) hears
/// of each of them.
template <typename Add>
void for_each_term(const CollectiveShape& shape, std::int64_t rank, std::int64_t i, const Add& add) {
  const auto all = [&](std::int64_t index) {
    for (std::int64_t other = 0; other < shape.ranks; ++other) add(other, index);
  };
  const std::int64_t part = shape.part();
  if (shape.collective == "all_reduce") return all(i);
  if (shape.collective == "broadcast") return add(0, i);
  if (shape.collective == "send_recv") return add((rank + shape.ranks - 1) % shape.ranks, i);
  if (shape.collective == "all_to_all") return add(i / part, rank * part + i % part);
  if (shape.collective == "all_gather") return add(i / part, shape.in_place ? i : i % part);
  if (!shape.in_place) return all(rank * part + i);
  return i / part == rank ? all(i) : add(rank, i);
}

/// The tolerance of sums of so many values in [-1, 1], every one of which is rounded to `dtype`.
Tolerance rank_sum_tolerance(DType dtype, std::int64_t ranks);

}  // namespace roofline
