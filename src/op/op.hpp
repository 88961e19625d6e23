// The interface of an op: its shape, work model, reference and kernels. One folder under kernels/ holds one op; an
// OpRegistrar object in it registers the op.
#pragma once

#include <cmath>
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

/// Permitted distance of an output from its reference: |out - ref| <= relative * (|ref| + magnitude). `magnitude`
/// is the typical size of an output, so that values near zero are not judged relative to themselves.
struct Tolerance {
  double relative = 0;
  double magnitude = 0;

  double permitted(double reference) const { return relative * (std::abs(reference) + magnitude); }
};

/// What an output element has to be.
struct Expectation {
  double value = 0;
  double permitted = 0;  ///< distance from it; NaN: no distance is known, because the value is not known exactly
  std::optional<Whole> whole = {};  ///< the value of an integer exactly, where `value` may be rounded
};

/// Enqueues (GPU) or runs (CPU) one launch. Pointers are to device memory, in the order of Op::tensors.
/// Throws Error; owns whatever workspace and handles it needs.
using Kernel = std::function<void(std::span<void* const> tensors)>;

/// One way to compute an op on one kind of device.
struct Implementation {
  std::string name;     ///< "naive", "eigen", "cublas"
  std::string summary;  /// one line: what makes it fast
  DeviceKind device = DeviceKind::cpu;
  std::vector<DType> dtypes;
  bool non_temporal_stores = false;  ///< on a CPU: its results bypass the caches
  int threads = 0;                   ///< on a CPU: of the run's threads, those that it uses; 0: all
  /// On a CPU: parallel regions that it starts with the device's pool, if that has more than one thread. Nothing: the
  /// launches of the op's work model.
  std::optional<int> regions = {};
  /// Why this workload cannot run here ("needs d <= 128"); std::nullopt if it can. May be empty: everything is
  /// supported.
  std::function<std::optional<std::string>(const Workload&, const Device&)> unsupported = {};
  /// Main-memory traffic beyond the compulsory one that its design adds (Work::extra). May be empty: none.
  std::function<Traffic(const Workload&)> extra_traffic = {};
  /// Prepares the kernel: workspaces, handles, attributes. Called once per workload.
  std::function<Kernel(const Workload&, Device&)> prepare = {};
};

class Op {
 public:
  virtual ~Op() = default;

  virtual std::string_view name() const = 0;     ///< "layernorm"
  virtual std::string_view summary() const = 0;  ///< one line with the formula
  virtual std::string_view family() const = 0;   ///< legend entry: "elementwise", "normalisation", …
  virtual std::vector<ShapeParameter> parameters() const = 0;

  /// Why a shape with valid extents is invalid ("d must be a multiple of 8"); std::nullopt if it is valid.
  virtual std::optional<std::string> invalid(const Shape&) const { return std::nullopt; }

  /// Inputs and outputs for one launch.
  virtual std::vector<TensorSpec> tensors(const Workload& workload) const = 0;

  /// The work of one launch, by the conventions of docs/method.md ("Work models").
  virtual Work work(const Workload& workload, DeviceKind device) const = 0;

  /// The values, in fp64, of the output elements at `indices` (ascending; into the concatenation of the
  /// output tensors), computed from the inputs as they are stored. Called from several threads at once.
  virtual void reference(const Workload& workload, std::span<const HostTensor> inputs,
                         std::span<const std::int64_t> indices, std::span<double> expected) const = 0;

  /// fp64 operations per output element of the reference, for ascending runs of elements: decides whether a
  /// workload is verified completely or by a fresh random sample.
  virtual double reference_cost(const Workload& workload) const = 0;

  /// Output elements that share work in the reference (a row): complete verification requests runs of this
  /// length, from multiples of it on, in one call.
  virtual std::int64_t reference_run(const Workload&) const { return 1; }

  /// Output elements that a random sample must include, besides the first and the last ones: the corners and
  /// edges of a matrix. In any order.
  virtual std::vector<std::int64_t> edges(const Workload&) const { return {}; }

  virtual Tolerance tolerance(const Workload& workload) const = 0;

  /// reference() with the permitted distance of each of these elements from it. By default tolerance()'s; for ops whose
  /// outputs have several types, or whose error bound depends on the values.
  virtual void expectations(const Workload& workload, std::span<const HostTensor> inputs,
                            std::span<const std::int64_t> indices, std::span<Expectation> expected) const {
    std::vector<double> values(indices.size());
    reference(workload, inputs, indices, values);
    const Tolerance bound = tolerance(workload);
    for (std::size_t i = 0; i < indices.size(); ++i) expected[i] = {values[i], bound.permitted(values[i])};
  }

  virtual std::vector<Implementation> implementations() const = 0;

  /// Shapes worth testing on such a device. By default minimal, odd and large ones that run quickly; override for
  /// shapes with their own path in an implementation. At the last one the tolerance must detect an error of 0.1
  /// %; sanitizers run small ones.
  virtual std::vector<Shape> test_shapes(DeviceKind device) const;
};

}  // namespace roofline
