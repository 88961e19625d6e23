// A case: one workload prepared on one device. Fills inputs, poisons outputs, guards every buffer, verifies against
// the reference, and can be timed only after that.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/sampler.hpp"
#include "model/error.hpp"
#include "op/op.hpp"
#include "op/verification.hpp"

namespace roofline {

class BufferPool;
class Device;
struct LastLevelCache;

/// random: every element independent, as verification and timing need. repeated: a few megabytes of random values,
/// repeated; faster, for launches that are only counted.
enum class InputValues : std::uint8_t { random, repeated };

/// Where tensors lie, apart from their usual places: experiments on alignment move them, repetitions reuse memory.
struct CasePlacement {
  /// Bytes by which each tensor is moved, multiples of its element's size; tensors past the end are not moved.
  std::vector<std::int64_t> offsets = {};
  BufferPool* pool = nullptr;  ///< source of the tensors' memory; must outlive the case. Null: new memory
  /// The device's free memory counts as this at most where it decides the number of buffer sets.
  double most_free_bytes = std::numeric_limits<double>::infinity();

  std::int64_t offset(std::size_t tensor) const { return tensor < offsets.size() ? offsets[tensor] : 0; }
};

/// The implementation cannot run this workload on this device, without being at fault ("needs d <= 128").
class Unsupported final : public Error {
 public:
  using Error::Error;
};

/// If processes hold one rank each (Device::holds), all that hold one of the workload's ranks create and verify the
/// same case: errors and wrong results of one are thrown or reported by all.
class Case {
 public:
  /// Allocates and fills everything. Throws Unsupported, and Error if memory does not suffice or the kernel
  /// cannot be prepared.
  Case(const Op& op, const Implementation& implementation, const Workload& workload, Device& device,
       InputValues values = InputValues::random, CasePlacement placement = {});
  ~Case();
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  /// Runs once on poisoned outputs and compares with the reference; guard zones are checked too.
  Verification verify();

  /// verify() with other random inputs and on the last buffer set, whose first set is poisoned: finds a kernel that
  /// computes for one seed, keeps results or pointers of its first launch, or is wrong in some launches only. Ends the
  /// case: nothing is timed after it.
  Verification verify_again();

  /// The batch for the sampler: launches rotate over the buffer sets. Only after verify() passed.
  Bench bench();

  /// The same without verify(), for experiments on a kernel that was verified in another case of its workload.
  Bench bench_unverified();

  /// Instead of a sampler in processes other than rank 0's: times the batches that its sampler requests, until
  /// the end. After bench().
  void follow();

  /// Enqueues (GPU) or runs (CPU) the launch of that number, on its buffer set.
  void launch(std::int64_t number);

  /// Device memory of the tensors of the first buffer set.
  std::vector<std::span<std::byte>> tensors() const;

  std::int64_t buffer_sets() const;
  /// Bytes that all buffer sets take together.
  double resident_bytes() const;

 private:
  /// `with_work`: what the work of a suite's kernel can be is part of the result.
  Verification check_launch(bool with_work);

  struct State;
  std::unique_ptr<State> state_;
};

/// The number of ranks that hold these tensors.
int ranks_of(std::span<const TensorSpec> tensors);

/// Timer resolution of launches over that many ranks: a batch forks to their devices and joins them, which takes
/// about 10 us that belong to no launch.
double resolution_among(int ranks, const Device& device);

/// Bytes of device memory of a case of this workload, including guards and rotation, to reject what does not fit.
/// With several ranks the maximum over them.
double case_bytes(const Op& op, const Workload& workload, const LastLevelCache& last_level);

}  // namespace roofline
