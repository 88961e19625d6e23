// A case: one workload made ready on one device. Fills inputs, poisons outputs, guards every buffer,
// verifies against the reference, and only then can be timed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "measure/sampler.hpp"
#include "model/error.hpp"
#include "op/op.hpp"
#include "op/verification.hpp"

namespace roofline {

class Device;
struct LastLevelCache;

/// random: every element on its own, as verification and timing need it. repeated: some megabytes of random values over
/// and over, ready sooner; for launches that are only counted.
enum class InputValues : std::uint8_t { random, repeated };

/// The implementation can't run this workload on this device, for a reason that is no fault ("needs d <= 128").
class Unsupported final : public Error {
 public:
  using Error::Error;
};

/// Where processes hold a rank each (Device::holds), all of those that hold one of the workload's make the same case
/// and verify it: what one of them can't do, or finds wrong, all of them throw or report.
class Case {
 public:
  /// Allocates and fills everything. Throws Unsupported, and Error when memory doesn't suffice or the kernel can't be
  /// prepared.
  Case(const Op& op, const Implementation& implementation, const Workload& workload, Device& device,
       InputValues values = InputValues::random);
  ~Case();
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  /// Runs once on poisoned outputs and compares with the reference; guard zones are checked too.
  Verification verify();

  /// The batch to give to the sampler: launches rotate over the buffer sets. Only after verify() passed.
  Bench bench();

  /// In place of a sampler where rank 0 is another process's: times the batches that its sampler asks for, until it
  /// asks for no more. After bench().
  void follow();

  /// Enqueues (GPU) or runs (CPU) the launch of that number, on the buffer set that is its turn.
  void launch(std::int64_t number);

  std::int64_t buffer_sets() const;
  /// Bytes that all buffer sets take together.
  double resident_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How many ranks these tensors lie with.
int ranks_of(std::span<const TensorSpec> tensors);

/// Seconds that the device's timer resolves of launches among so many ranks: a batch forks to their devices and joins
/// them, which takes some 10 us that belong to no launch.
double resolution_among(int ranks, const Device& device);

/// Bytes of device memory that a case of this workload takes, guards and rotation included: to refuse
/// what doesn't fit before anything is run. Of several ranks those of the one that takes most.
double case_bytes(const Op& op, const Workload& workload, const LastLevelCache& last_level);

}  // namespace roofline
