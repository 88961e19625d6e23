// A transfer over the link between host and GPU. Work model and reference; its rungs are in transfer.cu, and a CPU has
// none: its tensors are where it computes.
#include "op/registry.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

class Transfer final : public Op {
 public:
  std::string_view name() const override { return "transfer"; }
  std::string_view summary() const override { return "y = x, over the link between host and GPU"; }
  std::string_view family() const override { return "data movement"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26},
            {.name = "to_host",
             .meaning = "0: from host to GPU, 1: from GPU to host",
             .default_value = 0,
             .minimum = 0,
             .maximum = 1}};
  }

  /// Both are on the device: the copy on the host belongs to the implementation.
  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = w.shape["n"];
    return {{"x", TensorRole::input, n, w.dtype}, {"y", TensorRole::output, n, w.dtype}};
  }

  /// Over the link the GPU reads what comes from the host and writes what goes there; in its memory it is the other way
  /// round.
  Work work(const Workload& w, DeviceKind device) const override {
    const double bytes = static_cast<double>(w.shape["n"]) * static_cast<double>(element_size(w.dtype));
    Work work;
    if (device == DeviceKind::cpu) {
      work.bytes[main_memory(device)] = {.read = bytes, .write = bytes};
    } else if (!w.shape.contains("to_host") || w.shape["to_host"] == 0) {
      work.bytes[Level::pcie] = {.read = bytes, .write = 0};
      work.bytes[main_memory(device)] = {.read = 0, .write = bytes};
    } else {
      work.bytes[Level::pcie] = {.read = 0, .write = bytes};
      work.bytes[main_memory(device)] = {.read = bytes, .write = 0};
    }
    return work;
  }

  void reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = inputs[0][indices[i]];
  }

  double reference_cost(const Workload&) const override { return 2; }

  /// Nothing is rounded. Half an ulp is the finest that the metric tells.
  Tolerance tolerance(const Workload& w) const override {
    return {.relative = unit_roundoff(w.dtype), .magnitude = 0.5};
  }

  std::vector<Implementation> implementations() const override { return {}; }
};

const OpRegistrar kRegistrar(std::make_unique<Transfer>());

}  // namespace
}  // namespace roofline
