// The registry of ops and probes: filled by registrar objects in kernels/, read by everything else.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <vector>

#include "op/op.hpp"
#include "op/probe.hpp"

namespace roofline {

/// Every op, by name. The order does not depend on the order in which the linker saw them.
std::vector<const Op*> all_ops();

/// The op of that name, or null.
const Op* find_op(std::string_view name);

/// The source file that registered the op of that name, as the compiler was given it; empty where there is none. Tests
/// tell by it the ops of this repository from those of ROOFLINE_EXTRA_KERNELS.
std::string_view source_of_op(std::string_view name);

/// Every probe for devices of that kind, in the order in which a calibration runs them.
std::vector<const Probe*> all_probes(DeviceKind device);

/// Registers an op: `const OpRegistrar registrar(std::make_unique<Relu>());` at namespace scope.
struct OpRegistrar {
  explicit OpRegistrar(std::unique_ptr<Op> op, std::source_location where = std::source_location::current());
};

/// Adds implementations to the op of that name, which may be registered before or after: the CUDA half
/// of an op lives in a file of its own that is only built with CUDA.
struct ImplementationRegistrar {
  ImplementationRegistrar(std::string_view op, std::vector<Implementation> implementations);
};

struct ProbeRegistrar {
  explicit ProbeRegistrar(std::vector<Probe> probes);
};

/// All implementations of an op for one kind of device: its own and those registered beside it, in
/// ladder order (plainest first).
std::vector<Implementation> implementations_of(const Op& op, DeviceKind device);

/// The one of that name, or nothing.
std::optional<Implementation> find_implementation(const Op& op, DeviceKind device, std::string_view name);

}  // namespace roofline
