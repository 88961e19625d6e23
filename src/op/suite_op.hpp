// An op that a suite brings with it: what few know of their tensors and their reference, besides what all ops say.
#pragma once

#include <string>

#include "op/op.hpp"

namespace roofline {

class SuiteOp : public Op {
 public:
  /// Gives the elements of tensor `t` (an index into tensors()) their first values; the tensor may be the beginning of
  /// the whole one.
  virtual void fill(const Workload& workload, std::size_t t, std::uint64_t seed, HostTensor& tensor) const = 0;

  /// False: nobody says what is right. Guard zones and inputs are watched all the same.
  virtual bool has_reference() const = 0;
  /// Called once before outputs are compared, with what the inputs hold: for a reference that takes the device.
  virtual void prepare_reference(const Workload& workload, Device& device,
                                 std::span<const HostTensor> inputs) const = 0;
  /// What outputs are compared with: "y = 2*x + y in fp64".
  virtual std::string reference_name() const = 0;

  /// Whether nobody says how many operations it takes, so that those count that the hardware counts.
  virtual bool wants_counted_work() const = 0;
};

/// Null for ops that are built in.
inline const SuiteOp* as_suite_op(const Op& op) { return dynamic_cast<const SuiteOp*>(&op); }

}  // namespace roofline
