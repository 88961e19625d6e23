// The residual sum: z = x + y. Work model, reference, and the CPU's rungs; the CUDA ones are in add.cu.
//   scalar      one thread, one loop, ordinary stores: the output's lines are read before they are written
//   vectorized  all threads, non-temporal stores: memory sees two reads and one write an element
#include "kernels/add/add.hpp"

#include <algorithm>
#include <functional>

#include "kernels/elementwise.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Add final : public Elementwise {
 public:
  Add() : Elementwise({"x", "y"}, "z") {}

  std::string_view name() const override { return "add"; }
  std::string_view summary() const override { return "z = x + y, element by element (a residual sum)"; }

  /// Outputs are of size 1; a sum of two is rounded once, and once more on storing it.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 1, 1); }

  std::vector<Implementation> implementations() const override;

 protected:
  std::map<Pipe, double> flops(DType dtype, DeviceKind) const override { return {{vector_pipe(dtype), 1}}; }

  void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const override {
    std::transform(inputs[0].begin(), inputs[0].end(), inputs[1].begin(), out.begin(), std::plus<>());
  }
};

Kernel prepare_scalar(const Workload& w, Device&) { return plain_map<2>(w, std::plus<>()); }

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  return threaded_map<2>(op, w, device, []<Isa isa, typename T>() { return &add_range<isa, T>; });
}

std::vector<Implementation> Add::implementations() const {
  const std::vector<DType> dtypes{DType::fp32, DType::fp64};
  return {{.name = "scalar", .summary = "one thread, one plain loop", .dtypes = dtypes, .prepare = prepare_scalar},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores",
           .dtypes = dtypes,
           .prepare = [this](const Workload& w, Device& device) { return prepare_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<Add>());

}  // namespace
}  // namespace roofline
