// Common to ops that normalise a matrix row by row: the whole op except its formula and tolerance, and the launchers
// of the CPU implementations. Common parts of the vector loops are in row_pipeline.hpp, the GPU's in row.cuh.
#pragma once

#include <Eigen/Core>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/blocks/cpu/cpu_launch.hpp"

namespace roofline {

/// An op on x[rows, cols] and `vectors` of a row's length, in this order, with an output y[rows, cols].
class RowWise : public Op {
 public:
  explicit RowWise(std::vector<std::string> vectors) : vectors_(std::move(vectors)) {}

  std::string_view family() const override { return "normalisation"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "rows", .meaning = "rows, normalised independently", .default_value = 16384},
            {.name = "cols", .meaning = "elements per row", .default_value = 4096}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override;
  Work work(const Workload& w, DeviceKind device) const override;
  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;
  std::int64_t reference_run(const Workload& w) const override { return w.shape["cols"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;

 protected:
  /// FLOPs per element, by pipe.
  virtual std::map<Pipe, double> flops(DType dtype, DeviceKind device) const = 0;

  /// Computes a row of y from one of x, in fp64.
  virtual void evaluate(Eigen::ArrayXd& row, std::span<const Eigen::ArrayXd> vectors) const = 0;

 private:
  std::vector<std::string> vectors_;
};

/// Calls f(row of x, kVectors vectors…, row of y) for row `row`.
template <typename T, std::size_t kVectors, typename F>
void with_row(std::span<void* const> tensors, std::int64_t row, std::int64_t columns, F f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    f(elements<const T>(tensors, 0) + row * columns, elements<const T>(tensors, k + 1)...,
      elements<T>(tensors, kVectors + 1) + row * columns);
  }
  (std::make_index_sequence<kVectors>{});
}

/// A row of 16-bit elements and its vectors, for f in float: calls f(row of x, kVectors vectors…, row of y) with
/// copies of them in `wide`, (kVectors + 2) × columns, and rounds the resulting row of y.
template <typename T, std::size_t kVectors, typename F>
void with_wide_row(std::span<void* const> tensors, std::int64_t row, std::int64_t columns, float* wide, F f) {
  for (std::size_t t = 0; t <= kVectors; ++t) {
    const T* from = elements<const T>(tensors, t) + (t == 0 ? row * columns : 0);
    for (std::int64_t i = 0; i < columns; ++i) wide[static_cast<std::int64_t>(t) * columns + i] = widened(from[i]);
  }
  [&]<std::size_t... k>(std::index_sequence<k...>) { f(wide + static_cast<std::int64_t>(k) * columns...); }
  (std::make_index_sequence<kVectors + 2>{});
  const float* from = wide + (kVectors + 1) * columns;
  T* to = elements<T>(tensors, kVectors + 1) + row * columns;
  for (std::int64_t i = 0; i < columns; ++i) to[i] = narrowed<T>(from[i]);
}

/// Single thread: f(row of x, kVectors vectors…, row of y, columns) per row, in float or double.
template <std::size_t kVectors, typename F>
Kernel plain_rows(const Workload& w, F f) {
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    const std::int64_t columns = w.shape["cols"];
    const auto wide_elements = kSmallFloat<T> ? static_cast<std::int64_t>(kVectors + 2) * columns : 0;
    return [rows = w.shape["rows"], columns, f, wide = std::vector<float>(static_cast<std::size_t>(wide_elements))](
               std::span<void* const> tensors) mutable {
      const auto on_row = [&](auto*... pointers) { f(pointers..., columns); };
      for (std::int64_t row = 0; row < rows; ++row) {
        if constexpr (kSmallFloat<T>) {
          with_wide_row<T, kVectors>(tensors, row, columns, wide.data(), on_row);
        } else {
          with_row<T, kVectors>(tensors, row, columns, on_row);
        }
      }
    };
  });
}

/// All threads. `choose.operator()<isa, T>()` is a vector kernel (x, vectors…, y, rows, columns, streamed).
template <std::size_t kVectors, typename Choose>
Kernel threaded_rows(const Op& op, const Workload& w, Device& device, Choose choose) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto kernel = with_isa(cpu.isa(), [&]<Isa isa>() { return choose.template operator()<isa, T>(); });
    return [&pool = cpu.pool(), kernel, streamed, rows = w.shape["rows"],
            columns = w.shape["cols"]](std::span<void* const> tensors) {
      const std::int64_t least = kMinChunkBytes / (columns * std::int64_t{sizeof(T)});
      pool.for_chunks(rows, 1, least, [&](std::int64_t begin, std::int64_t end) {
        with_row<T, kVectors>(tensors, begin, columns,
                              [&](auto*... pointers) { kernel(pointers..., end - begin, columns, streamed); });
      });
    };
  });
}

}  // namespace roofline
