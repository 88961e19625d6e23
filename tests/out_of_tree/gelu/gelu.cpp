// GELU by its tanh form. Work model, reference, and the CPU's implementations; the CUDA ones are in gelu.cu.
//   scalar      one thread, one loop, the C library's exponential
//   vectorized  all threads, vectors of exponentials, non-temporal stores
#include "gelu.hpp"

#include <cmath>

#include "kernels/blocks/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

struct Formula {
  template <typename T>
  T operator()(T x) const {
    return x / (1 + std::exp(x * (static_cast<T>(kGeluLinear) + static_cast<T>(kGeluCubic) * x * x)));
  }
};

class Gelu final : public ElementwiseOf<Formula, 1> {
 public:
  Gelu() : ElementwiseOf({"x"}, "y") {}

  std::string_view name() const override { return "gelu"; }
  std::string_view summary() const override {
    return "y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), elementwise";
  }

  /// An exponential of the C library takes as long as about 16 additions.
  double reference_cost(const Workload&) const override { return 24; }

  /// Inputs in [-1, 1] make outputs of 0.33 in the root mean square. Ten roundings: three on the way to the exponent,
  /// the exponential's (fast ones of GPUs err by 2 to 4), of the sum, and of the quotient (2 on a GPU).
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 0.33, 10); }

  std::vector<Implementation> implementations() const override {
    return {plain_implementation("scalar"),
            vector_implementation("all threads, vector exponentials, non-temporal stores",
                                  []<Isa isa, typename T>() { return &gelu_range<isa, T>; })};
  }

 protected:
  /// 7 an element: square, product and sum, product, exponential, sum, quotient. The exponential and the quotient run
  /// on the special function units of a GPU, and on the vector pipe of a CPU.
  std::map<Pipe, double> flops(DType dtype, DeviceKind device) const override {
    if (device == DeviceKind::cuda) return {{vector_pipe(dtype), 5}, {Pipe::sfu, 2}};
    return {{vector_pipe(dtype), 7}};
  }
};

const OpRegistrar kRegistrar(std::make_unique<Gelu>());

}  // namespace
}  // namespace roofline
