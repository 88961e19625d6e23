// The contract that an op implements: its shape, work model, reference and kernels. One folder under
// kernels/ holds one op; an OpRegistrar object in it makes the op known.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/names.hpp"
#include "model/work.hpp"
#include "op/tensor.hpp"
#include "op/workload.hpp"

namespace roofline {

class Device;

/// One extent of an op's shape, as a suite may set it.
struct ShapeParameter {
  std::string name;
  std::string meaning;
  std::int64_t default_value = 1;
  std::int64_t minimum = 1;
  std::int64_t maximum = std::int64_t{1} << 40;
};

/// How far an output may lie from its reference: |out - ref| <= relative * (|ref| + magnitude).
/// `magnitude` is the typical size of an output, so that values near zero are not judged by their own.
struct Tolerance {
  double relative = 0;
  double magnitude = 0;
};

/// Enqueues (GPU) or runs (CPU) one launch. Pointers are to device memory, in the order of Op::tensors.
/// Throws Error; owns whatever workspace and handles it needs.
using Kernel = std::function<void(std::span<void* const> tensors)>;

/// One way to compute an op on one kind of device.
struct Implementation {
  std::string name;     ///< "naive", "eigen", "cublas"
  std::string summary;  ///< one line: what makes it as fast as it is
  DeviceKind device = DeviceKind::cpu;
  std::vector<DType> dtypes;
  bool non_temporal_stores = false;  ///< on a CPU: its results bypass the caches
  /// Why this workload can't run here ("needs d <= 128"), or nothing. May be empty: all is supported.
  std::function<std::optional<std::string>(const Workload&, const Device&)> unsupported = {};
  /// Main-memory traffic beyond the compulsory that it causes by design (Work::extra). May be empty: none.
  std::function<Traffic(const Workload&)> extra_traffic = {};
  /// Makes the kernel ready: workspaces, handles, attributes. Called once per workload.
  std::function<Kernel(const Workload&, Device&)> prepare = {};
};

class Op {
 public:
  virtual ~Op() = default;

  virtual std::string_view name() const = 0;     ///< "layernorm"
  virtual std::string_view summary() const = 0;  ///< one line with the formula
  virtual std::string_view family() const = 0;   ///< legend entry: "elementwise", "normalisation", …
  virtual std::vector<ShapeParameter> parameters() const = 0;

  /// What is wrong with a shape whose extents are each in range ("d must be a multiple of 8"), or nothing.
  virtual std::optional<std::string> invalid(const Shape&) const { return std::nullopt; }

  /// Inputs and outputs for one launch.
  virtual std::vector<TensorSpec> tensors(const Workload& workload) const = 0;

  /// The work of one launch, by the conventions of docs/method.md ("Work models").
  virtual Work work(const Workload& workload, DeviceKind device) const = 0;

  /// The values, in fp64, of the output elements at `indices` (ascending; into the concatenation of the
  /// output tensors), computed from the inputs as they are stored. Called from several threads at once.
  virtual void reference(const Workload& workload, std::span<const HostTensor> inputs,
                         std::span<const std::int64_t> indices, std::span<double> expected) const = 0;

  /// fp64 operations that the reference spends on one output element, when elements are asked for in
  /// ascending runs: decides whether a workload is verified whole or by a fresh random sample.
  virtual double reference_cost(const Workload& workload) const = 0;

  /// Output elements that share the reference's work (a row): a run of so many, from a multiple of it on,
  /// is asked for in one call where a workload is verified whole.
  virtual std::int64_t reference_run(const Workload&) const { return 1; }

  /// Output elements that a random sample must not leave out, besides the first and the last ones: the
  /// corners and edges of a matrix. In any order.
  virtual std::vector<std::int64_t> edges(const Workload&) const { return {}; }

  virtual Tolerance tolerance(const Workload& workload) const = 0;

  virtual std::vector<Implementation> implementations() const = 0;

  /// Shapes worth testing on such a device: the least, odd ones, and whatever takes a path of its own through an
  /// implementation. By default the least, odd ones and large ones that are quickly done. The last one is the one
  /// at which the tolerance must find an error of a thousandth, and small ones are those that sanitizers run.
  virtual std::vector<Shape> test_shapes(DeviceKind device) const;
};

}  // namespace roofline
