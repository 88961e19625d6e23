// What ops share that make each output element from the elements at its place in their inputs: all of the op but its
// formula, and the launchers of the CPU's rungs. The vector loops are in streamed_map.hpp, the GPU's in
// elementwise.cuh.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu_launch.hpp"

namespace roofline {

/// An op with n elements in its shape, one output, and inputs of the same length.
class Elementwise : public Op {
 public:
  Elementwise(std::vector<std::string> inputs, std::string output)
      : inputs_(std::move(inputs)), output_(std::move(output)) {}

  std::string_view family() const override { return "elementwise"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override;
  Work work(const Workload& w, DeviceKind device) const override;
  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;
  double reference_cost(const Workload&) const override { return 2 * static_cast<double>(inputs_.size()); }
  std::int64_t reference_run(const Workload&) const override { return kRun; }

 protected:
  /// FLOPs an element, by pipe.
  virtual std::map<Pipe, double> flops(DType dtype, DeviceKind device) const = 0;

  /// The formula in fp64: inputs[k][i] is the k-th input's element of out[i].
  virtual void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const = 0;

 private:
  static constexpr std::int64_t kRun = 4096;

  std::vector<std::string> inputs_;
  std::string output_;
};

/// Calls f with the places of element `first` in each of kInputs inputs.
template <typename T, std::size_t kInputs, typename F>
void with_inputs(std::span<void* const> tensors, std::int64_t first, F f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { f((elements<const T>(tensors, k) + first)...); }
  (std::make_index_sequence<kInputs>{});
}

/// One thread, one plain loop of f over the elements of kInputs inputs, with ordinary stores.
template <std::size_t kInputs, typename F>
Kernel plain_map(const Workload& w, F f) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    return [n = w.shape["n"], f](std::span<void* const> tensors) {
      T* y = elements<T>(tensors, kInputs);
      with_inputs<T, kInputs>(tensors, 0, [&](const auto*... x) {
        for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]...);
      });
    };
  });
}

/// All threads. `choose.operator()<isa, T>()` is a vector kernel (inputs…, output, count, streamed), which gets ranges
/// that begin on a page.
template <std::size_t kInputs, typename Choose>
Kernel threaded_map(const Op& op, const Workload& w, Device& device, Choose choose) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto range = with_isa(cpu.isa(), [&]<Isa isa>() { return choose.template operator()<isa, T>(); });
    return [&pool = cpu.pool(), range, streamed, n = w.shape["n"]](std::span<void* const> tensors) {
      constexpr std::int64_t kPage = 4096 / sizeof(T);
      pool.for_range(n, kPage, [&](std::int64_t begin, std::int64_t end) {
        T* y = elements<T>(tensors, kInputs) + begin;
        with_inputs<T, kInputs>(tensors, begin, [&](const auto*... x) { range(x..., y, end - begin, streamed); });
      });
    };
  });
}

}  // namespace roofline
