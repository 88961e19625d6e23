// An op defined in a suite: its additional interface for tensors and reference.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "model/work_bounds.hpp"
#include "op/op.hpp"

namespace roofline {

class SuiteOp : public Op {
 public:
  /// Initialises the elements of tensor `t` (an index into tensors()); the tensor may be the start of the whole
  /// one if start_repeats().
  virtual void fill(const Workload& workload, std::size_t t, std::uint64_t seed, HostTensor& tensor) const = 0;
  /// True if the start of tensor `t`, repeated, can replace the whole tensor when launches are only counted.
  virtual bool start_repeats(std::size_t t) const = 0;

  /// False: there is no reference. Guard zones and inputs are checked nevertheless.
  virtual bool has_reference() const = 0;
  /// Called once before outputs are compared, with the inputs' values, for a reference that needs the device.
  virtual void prepare_reference(const Workload& workload, Device& device,
                                 std::span<const HostTensor> inputs) const = 0;
  /// The reference of the comparison: "y = 2*x + y in fp64".
  virtual std::string reference_name() const = 0;

  /// Bounds on its work, from buffers and formulas. Call after prepare_reference().
  virtual std::optional<WorkBounds> work_bounds(const Workload& workload, std::span<const HostTensor> inputs) const = 0;

  /// True if the suite states no operations, so that counted ones are used.
  virtual bool wants_counted_work() const = 0;
};

/// Null for built-in ops.
inline const SuiteOp* as_suite_op(const Op& op) { return dynamic_cast<const SuiteOp*>(&op); }

}  // namespace roofline
