// AXPY: z = 2 x + y, element by element. The example of CONTRIBUTING.md, built out of tree by a test.
#include "device/cpu/cpu_device.hpp"
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Axpy final : public Op {
 public:
  std::string_view name() const override { return "axpy"; }
  std::string_view summary() const override { return "z = 2 x + y, element by element"; }
  std::string_view family() const override { return "elementwise"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    return {{"x", TensorRole::input, n, w.dtype},
            {"y", TensorRole::input, n, w.dtype},
            {"z", TensorRole::output, n, w.dtype}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const auto n = static_cast<double>(w.shape["n"]);
    const double bytes = n * static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[vector_pipe(w.dtype)] = 2 * n;  // a product and a sum
    work.bytes[main_memory(device)] = {.read = 2 * bytes, .write = bytes};
    return work;
  }

  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = 2 * inputs[0][indices[i]] + inputs[1][indices[i]];
  }

  double reference_cost(const Workload&) const override { return 10; }

  // Outputs are of size 1; one rounding on the way to each, and one on storing it.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 1, 1); }

  std::vector<Implementation> implementations() const override;
};

Kernel prepare_threaded(const Workload& w, Device& device) {
  return [&pool = as_cpu(device).pool(), n = w.shape["n"]](std::span<void* const> tensors) {
    const auto* x = static_cast<const float*>(tensors[0]);
    const auto* y = static_cast<const float*>(tensors[1]);
    auto* z = static_cast<float*>(tensors[2]);
    pool.for_range(n, 1024, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) z[i] = 2 * x[i] + y[i];
    });
  };
}

std::vector<Implementation> Axpy::implementations() const {
  return {{.name = "threaded",
           .summary = "all threads, one plain loop each",
           .dtypes = {DType::fp32},
           .prepare = prepare_threaded}};
}

const OpRegistrar kRegistrar(std::make_unique<Axpy>());

}  // namespace
}  // namespace roofline
