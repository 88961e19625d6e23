// SwiGLU: z = silu(gate) * up with silu(x) = x / (1 + exp(-x)). Work model, reference and CPU implementations; the
// CUDA ones are in swiglu.cu.
//   scalar      single thread, the C library's exponential
//   vectorized  all threads, vectors of exponentials, non-temporal stores
#include "kernels/swiglu/swiglu.hpp"

#include <cmath>

#include "kernels/blocks/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

struct SwigluFormula {
  template <typename T>
  T operator()(T gate, T up) const {
    return gate / (1 + std::exp(-gate)) * up;
  }
};

class Swiglu final : public ElementwiseOf<SwigluFormula, 2> {
 public:
  Swiglu() : ElementwiseOf({"gate", "up"}, "z") {}

  std::string_view name() const override { return "swiglu"; }
  std::string_view summary() const override { return "z = gate / (1 + exp(-gate)) * up, elementwise"; }

  /// As for softmax: an exponential of the C library takes as long as about 16 additions.
  double reference_cost(const Workload&) const override { return 24; }

  /// Inputs in [-1, 1] give outputs with a root mean square of 0.18. Eight roundings: the exponential's (fast GPU
  /// exponentials err by 2 to 4), of the sum, of the quotient (2 on a GPU: reciprocal and product), and of the
  /// product.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 0.18, 8); }

  std::vector<Implementation> implementations() const override {
    return {plain_implementation("scalar"),
            vector_implementation("all threads, vector exponentials, non-temporal stores",
                                  []<Isa isa, typename T>() { return &swiglu_range<isa, T>; })};
  }

 protected:
  /// 4 per element: exponential, sum, quotient, product; the sign is free. The first and the third run on the
  /// special function units of a GPU, and on the vector pipe of a CPU.
  std::map<Pipe, double> flops(DType dtype, DeviceKind device) const override {
    if (device == DeviceKind::cuda) return {{vector_pipe(dtype), 2}, {Pipe::sfu, 2}};
    return {{vector_pipe(dtype), 4}};
  }
};

const OpRegistrar kRegistrar(std::make_unique<Swiglu>());

}  // namespace
}  // namespace roofline
