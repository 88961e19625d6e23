// One entry of a suite's `workloads`, as it is written: names resolved, ranges checked, sweeps still lists.
// Internal to src/config.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/kernel_section.hpp"
#include "config/yaml_value.hpp"
#include "op/op.hpp"

namespace roofline {

/// One extent of a shape with every value that it takes in turn.
struct ExtentSweep {
  std::string name;
  std::vector<std::int64_t> values;
};
using ShapeSweep = std::vector<ExtentSweep>;

/// The name of an implementation, or `all`, with its place for complaints.
struct ImplementationChoice {
  std::string name;
  YamlValue where;
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a member may throw, and this move is not noexcept.
// NOLINTNEXTLINE(bugprone-exception-escape): a move of yaml-cpp's nodes may throw, and this one is not noexcept.
struct EntrySettings {
  std::vector<ShapeSweep> shapes = {ShapeSweep{}};  ///< extents not named keep the op's default
  std::optional<YamlValue> shape_where;             ///< the last `shape` that was applied
  std::vector<DType> dtypes = {DType::fp32};
  std::vector<ImplementationChoice> implementations;  ///< empty: the best one
  std::vector<CacheMode> caches = {CacheMode::cold};
  std::uint64_t seed = 1;
  std::string label;  ///< empty: made from op, dtype and shape
};

struct EntrySpec {
  const Op* op = nullptr;
  std::shared_ptr<const KernelSpec> kernel;  ///< kernel of the suite whose implementations are added to the op's
  YamlValue where;
  std::optional<Pipe> needs = {};
  /// By DeviceKind; std::nullopt if `only` excludes the kind.
  std::array<std::optional<EntrySettings>, 2> settings;

  const std::optional<EntrySettings>& on(DeviceKind kind) const { return settings[static_cast<std::size_t>(kind)]; }
};

/// The settings of a suite's `defaults`.
EntrySettings read_defaults(const YamlValue& yaml);

EntrySpec read_entry(const YamlValue& yaml, const EntrySettings& defaults, const SuiteKernels& kernels);

}  // namespace roofline
