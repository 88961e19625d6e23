// RMS normalisation over the last axis. Work model, reference, and the CPU's rungs; CUDA's are in rmsnorm.cu.
//   naive       one thread, two plain loops over each row
//   vectorized  all threads; a row is summed up while the one before is scaled and stored
#include "kernels/rmsnorm/rmsnorm.hpp"

#include <Eigen/Core>
#include <cmath>

#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class RmsNorm final : public Op {
 public:
  std::string_view name() const override { return "rmsnorm"; }
  std::string_view summary() const override { return "y = x / sqrt(mean of x^2 + 1e-5) * gamma, row by row"; }
  std::string_view family() const override { return "normalisation"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "rows", .meaning = "rows, each normalised by itself", .default_value = 16384},
            {.name = "cols", .meaning = "elements in a row", .default_value = 4096}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t columns = w.shape["cols"];
    const std::int64_t n = w.shape["rows"] * columns;
    return {{"x", TensorRole::input, n, w.dtype},
            {"gamma", TensorRole::input, columns, w.dtype},
            {"y", TensorRole::output, n, w.dtype}};
  }

  /// 5 FLOPs an element: the mean of squares takes 2 (square, add), normalising 1, gamma 1, and as in layer
  /// norm's convention what a row shares is counted besides, here as 1.
  Work work(const Workload& w, DeviceKind device) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    const double n = static_cast<double>(w.shape["rows"]) * columns;
    const auto size = static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[vector_pipe(w.dtype)] = 5 * n;
    work.bytes[main_memory(device)] = {.read = (n + columns) * size, .write = n * size};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  double reference_cost(const Workload&) const override { return 6; }
  std::int64_t reference_run(const Workload& w) const override { return w.shape["cols"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    return matrix_edges(w.shape["rows"], w.shape["cols"]);
  }

  /// Outputs are a normalised value (up to 1.73 for uniform data, sqrt(cols) at most) times a gamma below 1: of
  /// size 1. Squares are positive, so the rounding of their sum is at most that of its terms in sequence; 8 more
  /// follow it.
  Tolerance tolerance(const Workload& w) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    return storage_tolerance(w.dtype, 1, 8 + std::sqrt(columns));
  }

  std::vector<Implementation> implementations() const override;
};

void RmsNorm::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                        std::span<double> expected) const {
  const std::int64_t columns = w.shape["cols"];
  Eigen::ArrayXd row(columns);
  Eigen::ArrayXd gamma(columns);
  const auto whole = [](Eigen::ArrayXd& array) {
    return std::span(array.data(), static_cast<std::size_t>(array.size()));
  };
  inputs[1].read(0, whole(gamma));
  for_each_row(indices, expected, columns, [&](std::int64_t r, auto wanted, auto out) {
    inputs[0].read(r * columns, whole(row));
    const double scale = 1 / std::sqrt(row.square().mean() + kRmsNormEpsilon);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::int64_t column = wanted[i] - r * columns;
      out[i] = row[column] * scale * gamma[column];
    }
  });
}

template <typename T>
void naive_row(const T* x, const T* gamma, T* y, std::int64_t columns) {
  T squares = 0;
  for (std::int64_t i = 0; i < columns; ++i) squares += x[i] * x[i];
  const T scale = T{1} / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(kRmsNormEpsilon));
  for (std::int64_t i = 0; i < columns; ++i) y[i] = x[i] * scale * gamma[i];
}

Kernel prepare_naive(const Workload& w, Device&) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [rows = w.shape["rows"], columns = w.shape["cols"]](std::span<void* const> tensors) {
      for (std::int64_t row = 0; row < rows; ++row) {
        naive_row<T>(elements<T>(tensors, 0) + row * columns, elements<T>(tensors, 1),
                     elements<T>(tensors, 2) + row * columns, columns);
      }
    };
  });
}

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto kernel = with_isa(cpu.isa(), []<Isa isa>() { return &rmsnorm_rows<isa, T>; });
    return [&pool = cpu.pool(), kernel, streamed, rows = w.shape["rows"],
            columns = w.shape["cols"]](std::span<void* const> tensors) {
      pool.for_range(rows, 1, [&](std::int64_t begin, std::int64_t end) {
        kernel(elements<T>(tensors, 0) + begin * columns, elements<T>(tensors, 1),
               elements<T>(tensors, 2) + begin * columns, end - begin, columns, streamed);
      });
    };
  });
}

std::vector<Implementation> RmsNorm::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "one thread, two plain loops a row", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "vectorized",
           .summary = "all threads, vectors; a row is summed up while the one before is stored",
           .dtypes = dtypes,
           .prepare = [this](const Workload& w, Device& device) { return prepare_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<RmsNorm>());

}  // namespace
}  // namespace roofline
