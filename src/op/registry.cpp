// The registry's storage: function-local statics, because registrars in other files run before main in unspecified
// order.
#include "op/registry.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "model/error.hpp"

namespace roofline {
namespace {

struct RegisteredOp {
  std::unique_ptr<Op> op;
  const char* source;
};

struct Registry {
  std::map<std::string, RegisteredOp, std::less<>> ops;
  std::map<std::string, std::vector<Implementation>, std::less<>> added;
  std::vector<std::unique_ptr<Probe>> probes;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

/// The order of a calibration: roofs, then references, then sweeps; each by kinds, pipes, levels and patterns in
/// the order of their vocabularies. All of it is a sort key, because files are linked in any order.
auto calibration_order(const Probe& probe) {
  const auto rank = [](const auto& value) { return value ? 1 + static_cast<int>(*value) : 0; };
  return std::tuple(probe.sweep.has_value(), static_cast<int>(probe.role), static_cast<int>(probe.kind),
                    rank(probe.pipe), rank(probe.level), rank(probe.pattern), std::string_view(probe.name));
}

}  // namespace

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const auto& [name, registered] : registry().ops) ops.push_back(registered.op.get());
  return ops;
}

const Op* find_op(std::string_view name) {
  const auto found = registry().ops.find(name);
  return found == registry().ops.end() ? nullptr : found->second.op.get();
}

std::string_view source_of_op(std::string_view name) {
  const auto found = registry().ops.find(name);
  return found == registry().ops.end() ? std::string_view() : found->second.source;
}

std::vector<const Probe*> all_probes(DeviceKind device) {
  std::vector<const Probe*> probes;
  for (const auto& probe : registry().probes) {
    if (probe->device == device) probes.push_back(probe.get());
  }
  std::stable_sort(probes.begin(), probes.end(),
                   [](const Probe* a, const Probe* b) { return calibration_order(*a) < calibration_order(*b); });
  return probes;
}

OpRegistrar::OpRegistrar(std::unique_ptr<Op> op, const char* file) {
  std::string name(op->name());
  if (const auto other = source_of_op(name); !other.empty()) {
    throw Error("two ops are named '" + name + "': in " + std::string(other) + " and in " + file,
                "rename one of them: suites refer to ops by name");
  }
  registry().ops.emplace(std::move(name), RegisteredOp{std::move(op), file});
}

ImplementationRegistrar::ImplementationRegistrar(std::string_view op, std::vector<Implementation> implementations) {
  auto& added = registry().added[std::string(op)];
  std::move(implementations.begin(), implementations.end(), std::back_inserter(added));
}

ProbeRegistrar::ProbeRegistrar(std::vector<Probe> probes) {
  for (auto& probe : probes) registry().probes.push_back(std::make_unique<Probe>(std::move(probe)));
}

std::vector<Implementation> implementations_of(const Op& op, DeviceKind device) {
  auto all = op.implementations();
  if (const auto found = registry().added.find(op.name()); found != registry().added.end()) {
    all.insert(all.end(), found->second.begin(), found->second.end());
  }
  std::erase_if(all, [&](const Implementation& implementation) { return implementation.device != device; });
  return all;
}

std::optional<Implementation> find_implementation(const Op& op, DeviceKind device, std::string_view name) {
  for (Implementation& implementation : implementations_of(op, device)) {
    if (implementation.name == name) return std::move(implementation);
  }
  return std::nullopt;
}

}  // namespace roofline
