// Transfers between host and GPU. The tensors are on the device: the host copy belongs to the implementation. The
// implementations are in transfer.cu. A CPU has none, because its tensors are in host memory.
#include "kernels/blocks/data_movement.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

class Transfer final : public DataMovement {
 public:
  std::string_view name() const override { return "transfer"; }
  std::string_view summary() const override { return "y = x, between host and GPU memory"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26},
            {.name = "to_host",
             .meaning = "0: from host to GPU, 1: from GPU to host",
             .default_value = 0,
             .minimum = 0,
             .maximum = 1}};
  }

  /// Over the link the GPU reads what comes from the host and writes what goes there; in its memory it is the
  /// reverse.
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

  std::vector<Implementation> implementations() const override { return {}; }
  std::vector<Shape> test_shapes(DeviceKind) const override {
    return {{{"n", 1}, {"to_host", 0}},
            {{"n", 1}, {"to_host", 1}},
            {{"n", 1000003}, {"to_host", 0}},
            {{"n", 1000003}, {"to_host", 1}}};
  }
};

const OpRegistrar kRegistrar(std::make_unique<Transfer>());

}  // namespace
}  // namespace roofline
