// Products with operands distributed over ranks, as in tensor parallelism: common to both kinds. No CUDA header
// here.
#pragma once

#include <cstdint>
#include <string_view>

#include "op/op.hpp"

namespace roofline {

/// The whole C = A B, m x k by k x n, over that many ranks.
struct ParallelProduct {
  std::int64_t m = 0, n = 0, k = 0, ranks = 1;
  bool by_rows =
      false;  ///< of B: partial sums, which are added up; else by columns of B, with rows of A gathered first
  bool scatter = false;  ///< by rows: each rank keeps its rows of C; else all of C

  std::string_view collective() const {
    if (!by_rows) return "all_gather";
    return scatter ? "reduce_scatter" : "all_reduce";
  }
  /// Extents of each rank's product.
  Shape product_of_rank() const {
    return by_rows ? Shape{{"m", m}, {"n", n}, {"k", k / ranks}} : Shape{{"m", m}, {"n", n / ranks}, {"k", k}};
  }
  /// Elements that the collective counts: of A, or of C.
  std::int64_t exchanged() const { return by_rows ? m * n : m * k; }
  /// Elements of A, B and C in the memory of one rank, before and after.
  std::int64_t a_elements() const { return m * k / ranks; }
  std::int64_t b_elements() const { return k * n / ranks; }
  std::int64_t c_elements() const { return by_rows && !scatter ? m * n : m * n / ranks; }
};

ParallelProduct parallel_product(const Workload& workload);

}  // namespace roofline
