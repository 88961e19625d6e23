// A collective as an op: buffers and their ranks, reference and work. No CUDA header here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/op.hpp"

namespace roofline {

/// The ranks of a shape.
std::int64_t ranks_of(const Workload& workload);

/// True if one buffer of a rank is part of the other.
bool is_in_place(const Workload& workload);

/// True if it sums the ranks' values in their own type.
bool adds_up(std::string_view collective);

/// Send and receive buffers of each rank, by rank.
struct RankBuffers {
  std::vector<const void*> send;
  std::vector<void*> receive;
};

/// From the pointers to an op's tensors, in the order of Op::tensors. Null pointers (of ranks in other processes)
/// stay null.
RankBuffers rank_buffers(const Workload& workload, std::span<void* const> tensors);

/// Bytes of bus bandwidth that a collective of `n` elements counts, and bytes of main memory of the rank that moves
/// most.
Traffic network_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks);
Traffic memory_traffic(std::string_view collective, std::int64_t n, DType dtype, std::int64_t ranks, bool in_place);

/// A collective of `n` elements, as nccl-tests counts them.
struct CollectiveShape {
  std::string_view collective;
  std::int64_t n = 0;
  std::int64_t ranks = 0;
  bool in_place = false;

  /// A rank's part, if its larger buffer has one per rank.
  std::int64_t part() const { return n / ranks; }
  /// Number of elements that a rank receives.
  std::int64_t length() const { return collective == "reduce_scatter" && !in_place ? part() : n; }
};

/// Element `i` of the result of `rank` is the sum of one or more input elements: add(rank, index) is called for
/// each of them.
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

/// Tolerance of sums of that many values in [-1, 1], each rounded to `dtype`.
Tolerance rank_sum_tolerance(DType dtype, std::int64_t ranks);

}  // namespace roofline
