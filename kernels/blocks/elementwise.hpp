// Common to ops whose output elements depend on the input elements at the same index: the whole op except its
// formula, and the CPU implementations. The vector loops are in streamed_map.hpp, the GPU's in elementwise.cuh.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/blocks/cpu/cpu_launch.hpp"

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

  std::vector<Shape> test_shapes(DeviceKind device) const override {
    if (device == DeviceKind::cpu) return {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}};
    return {{{"n", 1}}, {{"n", 7}}, {{"n", 1'000'003}}, {{"n", 1 << 22}}};
  }

 protected:
  /// FLOPs per element, by pipe.
  virtual std::map<Pipe, double> flops(DType dtype, DeviceKind device) const = 0;

  /// The formula in fp64: inputs[k][i] is the k-th input's element of out[i].
  virtual void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const = 0;

 private:
  static constexpr std::int64_t kRun = 4096;

  std::vector<std::string> inputs_;
  std::string output_;
};

/// The op of a formula, written once for the reference and the scalar implementation: `T operator()(T… x) const` of
/// an empty struct, for float and double, with one x per input. 16-bit elements are computed in float.
template <typename Formula, std::size_t kInputs>
class ElementwiseOf : public Elementwise {
 public:
  using Elementwise::Elementwise;

 protected:
  void evaluate(std::span<const std::vector<double>> inputs, std::span<double> out) const override {
    with_inputs([&](auto... k) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = Formula{}(inputs[k][i]...);
    });
  }

  /// Single thread, scalar loop, regular stores.
  static Implementation plain_implementation(std::string name) {
    return {.name = std::move(name),
            .summary = "single thread, scalar loop",
            .dtypes = cpu_dtypes(),
            .prepare = prepare_plain};
  }

  /// All threads. `choose.operator()<isa, T>()` is a vector kernel (inputs…, output, count, streamed) for
  /// elements of type float, double, Fp16 or Bf16; its ranges start on a page.
  template <typename Choose>
  Implementation vector_implementation(std::string summary, Choose choose) const {
    return {
        .name = "vectorized",
        .summary = std::move(summary),
        .dtypes = cpu_dtypes(),
        .non_temporal_stores = true,
        .prepare = [this, choose](const Workload& w, Device& device) { return prepare_vectors(w, device, choose); }};
  }

 private:
  /// Calls f once with the indices of all inputs, as constants.
  template <typename F>
  static void with_inputs(F f) {
    [&]<std::size_t... k>(std::index_sequence<k...>) { f(std::integral_constant<std::size_t, k>{}...); }
    (std::make_index_sequence<kInputs>{});
  }

  static Kernel prepare_plain(const Workload& w, Device&) {
    return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
      return [n = w.shape["n"]](std::span<void* const> tensors) {
        with_inputs([&](auto... k) { plain_loop(n, elements<T>(tensors, kInputs), elements<const T>(tensors, k)...); });
      };
    });
  }

  template <typename T, typename... X>
  static void plain_loop(std::int64_t n, T* y, const X*... x) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = narrowed<T>(Formula{}(widened(x[i])...));
  }

  template <typename Choose>
  Kernel prepare_vectors(const Workload& w, Device& device, Choose choose) const {
    auto& cpu = as_cpu(device);
    const bool streamed = stores_past_caches(*this, w, device);
    return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
      const auto range = with_isa(cpu.isa(), [&]<Isa isa>() { return choose.template operator()<isa, T>(); });
      return [&pool = cpu.pool(), range, streamed, n = w.shape["n"]](std::span<void* const> tensors) {
        constexpr std::int64_t kPage = 4096 / sizeof(T);
        pool.for_chunks(n, kPage, kMinChunkBytes / sizeof(T), [&](std::int64_t begin, std::int64_t end) {
          with_inputs([&](auto... k) {
            range(elements<const T>(tensors, k) + begin..., elements<T>(tensors, kInputs) + begin, end - begin,
                  streamed);
          });
        });
      };
    });
  }
};

}  // namespace roofline
