// Softmax over the last axis. Work model, reference, and the CPU's rungs; the CUDA ones are in softmax.cu.
//   naive       one thread, three plain loops over each row, the C library's exponential
//   vectorized  all threads, vectors of exponentials, a row at a time in the cache
#include "kernels/softmax/softmax.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Softmax final : public Op {
 public:
  std::string_view name() const override { return "softmax"; }
  std::string_view summary() const override { return "y = exp(x - max) / sum of exp(x - max), row by row"; }
  std::string_view family() const override { return "normalisation"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "rows", .meaning = "rows, each normalised by itself", .default_value = 16384},
            {.name = "cols", .meaning = "elements in a row", .default_value = 4096}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["rows"] * w.shape["cols"];
    return {{"x", TensorRole::input, n, w.dtype}, {"y", TensorRole::output, n, w.dtype}};
  }

  /// 5 FLOPs an element: maximum, subtract, exponential, add, scale. The exponential runs on the special
  /// function units of a GPU, and on the vector pipe of a CPU, where the convention still counts it as one.
  Work work(const Workload& w, DeviceKind device) const override {
    const auto n = static_cast<double>(w.shape["rows"]) * static_cast<double>(w.shape["cols"]);
    const double bytes = n * static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[vector_pipe(w.dtype)] = 4 * n;
    work.flops[device == DeviceKind::cuda ? Pipe::sfu : vector_pipe(w.dtype)] += n;
    work.bytes[main_memory(device)] = {.read = bytes, .write = bytes};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  /// An exponential of the C library takes as long as about 16 additions.
  double reference_cost(const Workload&) const override { return 20; }
  std::int64_t reference_run(const Workload& w) const override { return w.shape["cols"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    return matrix_edges(w.shape["rows"], w.shape["cols"]);
  }

  /// A row sums to 1, so its outputs are of size 1 / cols. The sum of positive terms is as long as the row;
  /// 8 more roundings are the exponential's (fast GPU exponentials err by 2 to 4) and the scaling's.
  Tolerance tolerance(const Workload& w) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    return storage_tolerance(w.dtype, 1 / columns, 8 + std::sqrt(columns));
  }

  std::vector<Implementation> implementations() const override;
};

void Softmax::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                        std::span<double> expected) const {
  const std::int64_t columns = w.shape["cols"];
  Eigen::ArrayXd row(columns);
  for_each_row(indices, expected, columns, [&](std::int64_t r, auto wanted, auto out) {
    inputs[0].read(r * columns, {row.data(), static_cast<std::size_t>(columns)});
    row = (row - row.maxCoeff()).exp();
    const double sum = row.sum();
    for (std::size_t i = 0; i < wanted.size(); ++i) out[i] = row[wanted[i] - r * columns] / sum;
  });
}

template <typename T>
void naive_row(const T* x, T* y, std::int64_t columns) {
  T largest = x[0];
  for (std::int64_t i = 1; i < columns; ++i) largest = std::max(largest, x[i]);
  T sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) {
    y[i] = std::exp(x[i] - largest);
    sum += y[i];
  }
  for (std::int64_t i = 0; i < columns; ++i) y[i] /= sum;
}

Kernel prepare_naive(const Workload& w, Device&) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [rows = w.shape["rows"], columns = w.shape["cols"]](std::span<void* const> tensors) {
      for (std::int64_t row = 0; row < rows; ++row) {
        naive_row<T>(elements<T>(tensors, 0) + row * columns, elements<T>(tensors, 1) + row * columns, columns);
      }
    };
  });
}

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto kernel = with_isa(cpu.isa(), []<Isa isa>() { return &softmax_rows<isa, T>; });
    return [&pool = cpu.pool(), kernel, streamed, rows = w.shape["rows"],
            columns = w.shape["cols"]](std::span<void* const> tensors) {
      pool.for_range(rows, 1, [&](std::int64_t begin, std::int64_t end) {
        thread_local std::vector<T> scratch;
        scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(softmax_scratch<T>(columns))));
        kernel(elements<T>(tensors, 0) + begin * columns, elements<T>(tensors, 1) + begin * columns, scratch.data(),
               end - begin, columns, streamed);
      });
    };
  });
}

std::vector<Implementation> Softmax::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {
      {.name = "naive", .summary = "one thread, three plain loops a row", .dtypes = dtypes, .prepare = prepare_naive},
      {.name = "vectorized",
       .summary = "all threads, vector exponentials, a row in the cache",
       .dtypes = dtypes,
       .prepare = [this](const Workload& w, Device& device) { return prepare_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<Softmax>());

}  // namespace
}  // namespace roofline
