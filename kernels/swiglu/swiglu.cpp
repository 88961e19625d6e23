// SwiGLU: z = silu(gate) * up with silu(x) = x / (1 + exp(-x)). Work model, reference, and the CPU's rungs; the CUDA
// ones are in swiglu.cu.
//   scalar      one thread, one loop, the C library's exponential
//   vectorized  all threads, vectors of exponentials, non-temporal stores
#include "kernels/swiglu/swiglu.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Swiglu final : public Elementwise {
 public:
  Swiglu() : Elementwise({"gate", "up"}, "z") {}

  std::string_view name() const override { return "swiglu"; }
  std::string_view summary() const override { return "z = gate / (1 + exp(-gate)) * up, element by element"; }

  /// As for softmax: an exponential of the C library takes as long as about 16 additions.
  double reference_cost(const Workload&) const override { return 24; }

  /// Inputs in [-1, 1] make outputs of 0.18 in the root mean square. Eight roundings: the exponential's (fast ones of
  /// GPUs err by 2 to 4), of the sum, of the quotient (2 on a GPU: reciprocal and product), and of the product.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 0.18, 8); }

  std::vector<Implementation> implementations() const override;

 protected:
  /// 4 an element: exponential, sum, quotient, product; the sign is free. The first and the third run on the special
  /// function units of a GPU, and on the vector pipe of a CPU.
  std::map<Pipe, double> flops(DType dtype, DeviceKind device) const override {
    if (device == DeviceKind::cuda) return {{vector_pipe(dtype), 2}, {Pipe::sfu, 2}};
    return {{vector_pipe(dtype), 4}};
  }

  void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const override {
    std::transform(inputs[0].begin(), inputs[0].end(), inputs[1].begin(), out.begin(),
                   [](double gate, double up) { return gate / (1 + std::exp(-gate)) * up; });
  }
};

Kernel prepare_scalar(const Workload& w, Device&) {
  return plain_map<2>(w, [](auto gate, auto up) { return gate / (1 + std::exp(-gate)) * up; });
}

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  return threaded_map<2>(op, w, device, []<Isa isa, typename T>() { return &swiglu_range<isa, T>; });
}

std::vector<Implementation> Swiglu::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "scalar", .summary = "one thread, one plain loop", .dtypes = dtypes, .prepare = prepare_scalar},
          {.name = "vectorized",
           .summary = "all threads, vector exponentials, non-temporal stores",
           .dtypes = dtypes,
           .prepare = [this](const Workload& w, Device& device) { return prepare_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<Swiglu>());

}  // namespace
}  // namespace roofline
