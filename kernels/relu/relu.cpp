// ReLU: y = max(x, 0). Work model, reference, and the CPU's rungs; the CUDA ones are in relu.cu.
//   naive       one thread, one loop, ordinary stores: the output's lines are read before they are written
//   vectorized  all threads, non-temporal stores: memory sees one read and one write an element
#include "kernels/relu/relu.hpp"

#include <algorithm>

#include "kernels/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Relu final : public Elementwise {
 public:
  Relu() : Elementwise({"x"}, "y") {}

  std::string_view name() const override { return "relu"; }
  std::string_view summary() const override { return "y = max(x, 0), element by element"; }

  /// Nothing is rounded: the output is the input or zero. Half an ulp is the finest that the metric tells.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }

  std::vector<Implementation> implementations() const override;

 protected:
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override {
    return {{vector_pipe(dtype), 1}};  // one comparison
  }

  void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const override {
    std::transform(inputs[0].begin(), inputs[0].end(), out.begin(), [](double x) { return std::max(x, 0.0); });
  }
};

Kernel prepare_naive(const Workload& w, Device&) {
  return plain_map<1>(w, [](auto x) { return x > 0 ? x : 0; });
}

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  return threaded_map<1>(op, w, device, []<Isa isa, typename T>() { return &relu_range<isa, T>; });
}

std::vector<Implementation> Relu::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "naive", .summary = "one thread, one plain loop", .dtypes = dtypes, .prepare = prepare_naive},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores",
           .dtypes = dtypes,
           .prepare = [this](const Workload& w, Device& device) { return prepare_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<Relu>());

}  // namespace
}  // namespace roofline
