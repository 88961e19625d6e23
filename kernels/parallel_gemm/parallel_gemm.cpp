// Products of tensor parallelism with their collective: C = A B, with B distributed over the ranks.
//   row_parallel     rank r has columns of A and rows of B, and computes a partial result; all_reduce sums them on
//                    every rank, or reduce_scatter on each rank its rows (sequence parallelism)
//   column_parallel  rank r has rows of A and columns of B; all_gather collects all rows (sequence parallelism),
//                    and
//                    each rank then computes its columns of C. If every rank already has A, there is nothing to
//                    gather, and the product is a gemm of n / ranks columns.
// A launch is both steps on all ranks.
#include "kernels/parallel_gemm/parallel_gemm.hpp"

#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "kernels/collectives/collective.hpp"
#include "op/registry.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {

ParallelProduct parallel_product(const Workload& w) {
  return {.m = w.shape["m"],
          .n = w.shape["n"],
          .k = w.shape["k"],
          .ranks = w.shape["ranks"],
          .by_rows = w.op == "row_parallel",
          .scatter = w.shape.contains("scatter") && w.shape["scatter"] == 1};
}

namespace {

class ParallelGemm : public Op {
 public:
  std::string_view family() const override { return "matrix product"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "m", .meaning = "rows of A and C", .default_value = 4096},
            {.name = "n", .meaning = "columns of B and C", .default_value = 4096},
            {.name = "k", .meaning = "columns of A, rows of B", .default_value = 4096},
            {.name = "ranks",
             .meaning = "GPUs that B is distributed over",
             .default_value = 2,
             .minimum = 2,
             .maximum = 4096}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const ParallelProduct product = parallel_product(w);
    std::vector<TensorSpec> specs;
    for (int rank = 0; rank < product.ranks; ++rank) {
      specs.push_back({fmt::format("A{}", rank), TensorRole::input, product.a_elements(), w.dtype, rank});
      specs.push_back({fmt::format("B{}", rank), TensorRole::input, product.b_elements(), w.dtype, rank});
    }
    for (int rank = 0; rank < product.ranks; ++rank) {
      specs.push_back({fmt::format("C{}", rank), TensorRole::output, product.c_elements(), w.dtype, rank});
    }
    return specs;
  }

  /// Work of one rank.
  Work work(const Workload& w, DeviceKind device) const override {
    const ParallelProduct product = parallel_product(w);
    const auto size = static_cast<double>(element_size(w.dtype));
    const double whole = 2 * static_cast<double>(product.m) * static_cast<double>(product.n);
    Work work;
    work.flops[matrix_pipe(w.dtype, device)] =
        whole * static_cast<double>(product.k) / static_cast<double>(product.ranks);
    work.bytes[main_memory(device)] = {.read = size * static_cast<double>(product.a_elements() + product.b_elements()),
                                       .write = size * static_cast<double>(product.c_elements())};
    work.bytes[Level::network] = network_traffic(product.collective(), product.exchanged(), w.dtype, product.ranks);
    work.collective = {.name = std::string(product.collective()), .ranks = product.ranks};
    work.launches = 2;
    return work;
  }

  /// Only a sample of large products is compared, so it may be computed element by element.
  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    const ParallelProduct product = parallel_product(w);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      expected[i] = element(product, inputs, indices[i] / product.c_elements(), indices[i] % product.c_elements());
    }
  }

  double reference_cost(const Workload& w) const override { return 8 * static_cast<double>(w.shape["k"]); }

  std::vector<std::int64_t> edges(const Workload& w) const override {
    const ParallelProduct product = parallel_product(w);
    const std::int64_t columns = product.by_rows ? product.n : product.n / product.ranks;
    std::vector<std::int64_t> found;
    for (std::int64_t rank = 0; rank < product.ranks; ++rank) {
      const std::int64_t first = rank * product.c_elements();
      for (const std::int64_t at : matrix_edges(product.c_elements() / columns, columns, first)) found.push_back(at);
    }
    return found;
  }

  std::vector<Implementation> implementations() const override { return {}; }

 protected:
  /// Tolerance for sums of k products, as in gemm.
  static Tolerance product_tolerance(const Workload& w) {
    const auto k = static_cast<double>(w.shape["k"]);
    Tolerance tolerance = storage_tolerance(w.dtype, std::sqrt(k) / 3, 4 + std::sqrt(k));
    if (w.dtype == DType::tf32) tolerance.relative += 8 * operand_roundoff(w.dtype);
    return tolerance;
  }

 private:
  static double dot(const ParallelProduct& product, std::span<const HostTensor> inputs, std::size_t rank_of_a,
                    std::int64_t row, std::size_t rank_of_b, std::int64_t column) {
    const std::int64_t depth = product.by_rows ? product.k / product.ranks : product.k;
    const std::int64_t columns = product.by_rows ? product.n : product.n / product.ranks;
    double sum = 0;
    for (std::int64_t p = 0; p < depth; ++p) {
      sum += inputs[2 * rank_of_a][row * depth + p] * inputs[2 * rank_of_b + 1][p * columns + column];
    }
    return sum;
  }

  /// Element `i` of the C of a rank.
  static double element(const ParallelProduct& product, std::span<const HostTensor> inputs, std::int64_t rank,
                        std::int64_t i) {
    const std::int64_t rows = product.m / product.ranks;
    if (!product.by_rows) {
      const std::int64_t columns = product.n / product.ranks;
      const std::int64_t row = i / columns;
      return dot(product, inputs, static_cast<std::size_t>(row / rows), row % rows, static_cast<std::size_t>(rank),
                 i % columns);
    }
    const std::int64_t row = i / product.n + (product.scatter ? rank * rows : 0);
    double sum = 0;
    for (std::size_t other = 0; other < static_cast<std::size_t>(product.ranks); ++other) {
      sum += dot(product, inputs, other, row, other, i % product.n);
    }
    return sum;
  }
};

class RowParallel final : public ParallelGemm {
 public:
  std::string_view name() const override { return "row_parallel"; }
  std::string_view summary() const override {
    return "C = A B, columns of A and rows of B on each rank; partial results of C are reduced";
  }

  std::vector<ShapeParameter> parameters() const override {
    std::vector<ShapeParameter> parameters = ParallelGemm::parameters();
    parameters.push_back({.name = "scatter",
                          .meaning = "0: every rank receives C (all_reduce), 1: its rows (reduce_scatter)",
                          .default_value = 0,
                          .minimum = 0,
                          .maximum = 1});
    return parameters;
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    if (shape["k"] % shape["ranks"] != 0) return "k must be a multiple of ranks";
    const bool scatter = shape.contains("scatter") && shape["scatter"] == 1;
    if (scatter && shape["m"] % shape["ranks"] != 0) return "m must be a multiple of ranks for reduce_scatter";
    return std::nullopt;
  }

  /// Each rank's partial result is stored, and each sum of partial results: rounded to the type. 5.7 standard
  /// deviations are the largest of 10^8.
  Tolerance tolerance(const Workload& w) const override {
    Tolerance tolerance = product_tolerance(w);
    const auto ranks = static_cast<double>(w.shape["ranks"]);
    double deviations = std::sqrt(ranks);
    for (double parts = 2; parts < ranks; ++parts) deviations += std::sqrt(parts / ranks);
    tolerance.relative += 5.7 * unit_roundoff(w.dtype) * deviations;
    return tolerance;
  }

  std::vector<Shape> test_shapes(DeviceKind) const override {
    std::vector<Shape> shapes;
    for (const std::int64_t ranks : {2, 4, 8}) {
      shapes.push_back({{"m", 16 * ranks}, {"n", 64}, {"k", 32 * ranks}, {"ranks", ranks}, {"scatter", 1}});
      shapes.push_back({{"m", 40}, {"n", 136}, {"k", 72 * ranks}, {"ranks", ranks}});
    }
    return shapes;
  }
};

class ColumnParallel final : public ParallelGemm {
 public:
  std::string_view name() const override { return "column_parallel"; }
  std::string_view summary() const override {
    return "C = A B, rows of A (gathered first) and columns of B and C on each rank";
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    if (shape["m"] % shape["ranks"] != 0) return "m must be a multiple of ranks";
    if (shape["n"] % shape["ranks"] != 0) return "n must be a multiple of ranks";
    return std::nullopt;
  }

  Tolerance tolerance(const Workload& w) const override { return product_tolerance(w); }

  std::vector<Shape> test_shapes(DeviceKind) const override {
    std::vector<Shape> shapes;
    for (const std::int64_t ranks : {2, 4, 8}) {
      shapes.push_back({{"m", 8 * ranks}, {"n", 32 * ranks}, {"k", 64}, {"ranks", ranks}});
      shapes.push_back({{"m", 5 * ranks}, {"n", 24 * ranks}, {"k", 200}, {"ranks", ranks}});
    }
    return shapes;
  }
};

const OpRegistrar kRowParallel(std::make_unique<RowParallel>());
const OpRegistrar kColumnParallel(std::make_unique<ColumnParallel>());

}  // namespace
}  // namespace roofline
