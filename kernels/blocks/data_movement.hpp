// Common to ops that only move elements: x in, the same elements out as y, no FLOPs and no rounding.
#pragma once

#include "op/op.hpp"
#include "op/tolerance.hpp"

namespace roofline {

/// An op with n elements in its shape and intensity 0: only its bandwidth is meaningful.
class DataMovement : public Op {
 public:
  std::string_view family() const override { return "data movement"; }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    return {{"x", TensorRole::input, n, w.dtype}, {"y", TensorRole::output, n, w.dtype}};
  }

  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = inputs[0][indices[i]];
  }

  double reference_cost(const Workload&) const override { return 2; }

  /// Nothing is rounded. Half an ulp is the resolution of the metric.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }
};

}  // namespace roofline
