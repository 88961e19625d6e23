// The registry of ops and probes: filled by registrar objects in kernels/, read by everything else.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "op/op.hpp"
#include "op/probe.hpp"

namespace roofline {

/// Every op, by name, independent of link order.
std::vector<const Op*> all_ops();

/// The op of that name, or null.
const Op* find_op(std::string_view name);

/// The source file that registered the op of that name, as given to the compiler; empty if there is none. Tests use
/// it to distinguish the ops of this repository from those of ROOFLINE_EXTRA_KERNELS.
std::string_view source_of_op(std::string_view name);

/// Every probe for devices of that kind, in the order of a calibration.
std::vector<const Probe*> all_probes(DeviceKind device);

/// Registers an op: `const OpRegistrar registrar(std::make_unique<Relu>());` at namespace scope.
struct OpRegistrar {
  /// `file`: that the object is in. Not std::source_location, which Clang has from version 16 on.
  explicit OpRegistrar(std::unique_ptr<Op> op, const char* file = __builtin_FILE());
};

/// Adds implementations to the op of that name, which may be registered before or after: the CUDA half of an op is
/// a separate file that is only built with CUDA.
struct ImplementationRegistrar {
  ImplementationRegistrar(std::string_view op, std::vector<Implementation> implementations);
};

struct ProbeRegistrar {
  explicit ProbeRegistrar(std::vector<Probe> probes);
};

/// All implementations of an op for one kind of device: its own and those registered separately, simplest first.
std::vector<Implementation> implementations_of(const Op& op, DeviceKind device);

/// The implementation with that name; std::nullopt if there is none.
std::optional<Implementation> find_implementation(const Op& op, DeviceKind device, std::string_view name);

}  // namespace roofline
