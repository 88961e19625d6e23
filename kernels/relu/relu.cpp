// ReLU: y = max(x, 0). Work model, reference, and the CPU's rungs; the CUDA ones are in relu.cu.
//   naive       one thread, one loop, ordinary stores: the output's lines are read before they are written
//   vectorized  all threads, non-temporal stores: memory sees one read and one write an element
#include "kernels/relu/relu.hpp"

#include <algorithm>

#include "kernels/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Relu final : public Op {
 public:
  std::string_view name() const override { return "relu"; }
  std::string_view summary() const override { return "y = max(x, 0), element by element"; }
  std::string_view family() const override { return "elementwise"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    return {{"x", TensorRole::input, n, w.dtype}, {"y", TensorRole::output, n, w.dtype}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const auto n = static_cast<double>(w.shape["n"]);
    const double bytes = n * static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[vector_pipe(w.dtype)] = n;  // one comparison
    work.bytes[main_memory(device)] = {.read = bytes, .write = bytes};
    return work;
  }

  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for_each_row(indices, expected, kRun, [&](std::int64_t, auto run, auto out) {
      if (run.back() - run.front() + 1 == static_cast<std::int64_t>(run.size())) {
        inputs[0].read(run.front(), out);
      } else {
        for (std::size_t i = 0; i < run.size(); ++i) out[i] = inputs[0][run[i]];
      }
      for (double& value : out) value = std::max(value, 0.0);
    });
  }

  double reference_cost(const Workload&) const override { return 2; }
  std::int64_t reference_run(const Workload&) const override { return kRun; }

  /// Nothing is rounded: the output is the input or zero. Half an ulp is the finest that the metric tells.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }

  std::vector<Implementation> implementations() const override;

 private:
  static constexpr std::int64_t kRun = 4096;
};

Kernel prepare_naive(const Workload& w, Device&) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [n = w.shape["n"]](std::span<void* const> tensors) {
      const T* x = elements<T>(tensors, 0);
      T* y = elements<T>(tensors, 1);
      for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
    };
  });
}

Kernel prepare_vectorized(const Op& op, const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto range = with_isa(cpu.isa(), []<Isa isa>() { return &relu_range<isa, T>; });
    return [&pool = cpu.pool(), range, streamed, n = w.shape["n"]](std::span<void* const> tensors) {
      const T* x = elements<T>(tensors, 0);
      T* y = elements<T>(tensors, 1);
      constexpr std::int64_t kPage = 4096 / sizeof(T);
      pool.for_range(n, kPage,
                     [&](std::int64_t begin, std::int64_t end) { range(x + begin, y + begin, end - begin, streamed); });
    };
  });
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
