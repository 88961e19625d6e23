// Default test shapes of an op, derived from its parameters and its work.
#include "op/op.hpp"

#include <algorithm>

namespace roofline {
namespace {

/// Maximum work of a test launch: a scalar loop on one CPU core, or a naive kernel, finishes in milliseconds.
bool affordable(const Op& op, const Shape& shape, DeviceKind device) {
  const bool cpu = device == DeviceKind::cpu;
  Workload workload;
  workload.op = std::string(op.name());
  workload.shape = shape;
  const Work work = op.work(workload, device);
  double bytes = 0;
  for (const auto& [level, traffic] : work.bytes) bytes += traffic.total();
  return bytes <= (cpu ? 1 << 20 : 1 << 24) && work.total_flops() <= (cpu ? 1e7 : 1e9);
}

}  // namespace

std::vector<Shape> Op::test_shapes(DeviceKind device) const {
  std::vector<Shape> found;
  // The extents that `wanted` gives, the largest halved until the work is small.
  const auto add = [&](auto wanted) {
    const auto parameters = this->parameters();
    Shape shape;
    // An extent that may be 0 is an option ("causal") and keeps its default.
    for (const ShapeParameter& p : parameters) shape.set(p.name, p.minimum < 1 ? p.default_value : wanted(p));
    while (invalid(shape) || !affordable(*this, shape, device)) {
      const ShapeParameter* largest = nullptr;
      for (const ShapeParameter& p : parameters) {
        const bool shrinks = p.minimum >= 1 && shape[p.name] > p.minimum;
        if (shrinks && (largest == nullptr || shape[p.name] > shape[largest->name])) largest = &p;
      }
      if (largest == nullptr) break;
      shape.set(largest->name, std::max(largest->minimum, shape[largest->name] / 2));
    }
    // If that is still not small, the smallest possible shape.
    if (!invalid(shape) && std::find(found.begin(), found.end(), shape) == found.end()) found.push_back(shape);
  };
  const auto within = [](const ShapeParameter& p, std::int64_t extent) {
    return std::clamp(extent, p.minimum, p.maximum);
  };
  add([](const ShapeParameter& p) { return p.minimum; });
  add([&](const ShapeParameter& p) { return within(p, 31); });
  add([](const ShapeParameter& p) { return p.default_value; });
  // Halving 2^n - 1 leaves it odd.
  add([&](const ShapeParameter& p) { return within(p, p.default_value - 1 + p.default_value % 2); });
  if (found.empty()) {  // halving led to nothing that is valid, but a default is
    Shape& shape = found.emplace_back();
    for (const ShapeParameter& p : parameters()) shape.set(p.name, p.default_value);
  }
  return found;
}

}  // namespace roofline
