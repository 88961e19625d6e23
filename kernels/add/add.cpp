// Residual sum: z = x + y. Work model, reference and CPU implementations; the CUDA ones are in add.cu.
//   scalar      single thread, regular stores: output lines are read before they are written
//   vectorized  all threads, non-temporal stores: memory sees two reads and one write per element
#include "kernels/add/add.hpp"

#include <functional>

#include "kernels/blocks/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Add final : public ElementwiseOf<std::plus<>, 2> {
 public:
  Add() : ElementwiseOf({"x", "y"}, "z") {}

  std::string_view name() const override { return "add"; }
  std::string_view summary() const override { return "z = x + y, elementwise (residual sum)"; }

  /// Outputs have magnitude 1. A sum of two is rounded once, and once more when stored.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 1, 1); }

  std::vector<Implementation> implementations() const override {
    return {plain_implementation("scalar"),
            vector_implementation("all threads, vectors, non-temporal stores",
                                  []<Isa isa, typename T>() { return &add_range<isa, T>; })};
  }

 protected:
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override { return {{vector_pipe(dtype), 1}}; }
};

const OpRegistrar kRegistrar(std::make_unique<Add>());

}  // namespace
}  // namespace roofline
