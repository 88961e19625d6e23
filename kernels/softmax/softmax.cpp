// Softmax over the last axis. Work model, reference and CPU implementations; the CUDA ones are in softmax.cu.
//   naive       single thread, three scalar loops over each row, the C library's exponential
//   vectorized  all threads, vectors of exponentials, one row at a time in the cache
#include "kernels/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/blocks/row_wise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Softmax final : public RowWise {
 public:
  Softmax() : RowWise({}) {}

  std::string_view name() const override { return "softmax"; }
  std::string_view summary() const override { return "y = exp(x - max) / sum of exp(x - max), row by row"; }
  /// An exponential of the C library takes as long as about 16 additions.
  double reference_cost(const Workload&) const override { return 20; }

  /// A row sums to 1, so its outputs have magnitude 1 / cols. The sum of positive terms is as long as the row; 8
  /// more roundings are the exponential's (fast GPU exponentials err by 2 to 4) and the scaling's.
  Tolerance tolerance(const Workload& w) const override {
    const auto columns = static_cast<double>(w.shape["cols"]);
    return storage_tolerance(w.dtype, 1 / columns, 8 + std::sqrt(columns));
  }

  std::vector<Implementation> implementations() const override;

 protected:
  /// 5 FLOPs per element: maximum, subtract, exponential, add, scale. The exponential runs on the special
  /// function units of a GPU, and on the vector pipe of a CPU, where the convention still counts it as one.
  std::map<Pipe, double> flops(DType dtype, DeviceKind device) const override {
    if (device == DeviceKind::cpu) return {{vector_pipe(dtype), 5}};
    return {{vector_pipe(dtype), 4}, {Pipe::sfu, 1}};
  }

  void evaluate(Eigen::ArrayXd& row, std::span<const Eigen::ArrayXd>) const override {
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
};

constexpr auto kNaiveSoftmaxRow = []<typename T>(const T* x, T* y, std::int64_t columns) {
  T largest = x[0];
  for (std::int64_t i = 1; i < columns; ++i) largest = std::max(largest, x[i]);
  T sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) {
    y[i] = std::exp(x[i] - largest);
    sum += y[i];
  }
  for (std::int64_t i = 0; i < columns; ++i) y[i] /= sum;
};

template <Isa isa, typename T>
void rows_with_scratch(const T* x, T* y, std::int64_t rows, std::int64_t columns, bool streamed) {
  // Aligned to a cache line, because half of the vectors would otherwise cross a line and take twice as long.
  struct alignas(64) Line {
    Computed<T> values[64 / sizeof(Computed<T>)];
  };
  thread_local std::vector<Line> scratch;
  const std::size_t lines = static_cast<std::size_t>(softmax_scratch<T>(columns)) / std::size(Line{}.values) + 1;
  scratch.resize(std::max(scratch.size(), lines));
  softmax_rows<isa>(x, y, scratch.data()->values, rows, columns, streamed);
}

std::vector<Implementation> Softmax::implementations() const {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "naive",
           .summary = "single thread, three scalar loops per row",
           .dtypes = dtypes,
           .prepare = [](const Workload& w, Device&) { return plain_rows<0>(w, kNaiveSoftmaxRow); }},
          {.name = "vectorized",
           .summary = "all threads, vector exponentials, row kept in cache, non-temporal stores",
           .dtypes = dtypes,
           .non_temporal_stores = true,
           .prepare = [this](const Workload& w, Device& device) {
             return threaded_rows<0>(*this, w, device,
                                     []<Isa isa, typename T>() { return &rows_with_scratch<isa, T>; });
           }}};
}

const OpRegistrar kRegistrar(std::make_unique<Softmax>());

}  // namespace
}  // namespace roofline
