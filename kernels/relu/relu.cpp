// ReLU: y = max(x, 0). Work model, reference and CPU implementations; the CUDA ones are in relu.cu.
//   naive       single thread, regular stores: output lines are read before they are written
//   vectorized  all threads, non-temporal stores: memory sees one read and one write per element
#include "kernels/relu/relu.hpp"

#include "kernels/blocks/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

struct ReluFormula {
  template <typename T>
  T operator()(T x) const {
    return x > 0 ? x : 0;
  }
};

class Relu final : public ElementwiseOf<ReluFormula, 1> {
 public:
  Relu() : ElementwiseOf({"x"}, "y") {}

  std::string_view name() const override { return "relu"; }
  std::string_view summary() const override { return "y = max(x, 0), elementwise"; }

  /// Nothing is rounded: the output is the input or zero. Half an ulp is the resolution of the metric.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }

  std::vector<Implementation> implementations() const override {
    return {plain_implementation("naive"),
            vector_implementation("all threads, vectors, non-temporal stores",
                                  []<Isa isa, typename T>() { return &relu_range<isa, T>; })};
  }

 protected:
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override {
    return {{vector_pipe(dtype), 1}};  // one comparison
  }
};

const OpRegistrar kRegistrar(std::make_unique<Relu>());

}  // namespace
}  // namespace roofline
