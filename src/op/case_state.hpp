// The state of a case. Only case*.cpp include it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"

namespace roofline {

inline std::uint64_t tensor_seed(std::uint64_t seed, std::size_t tensor) {
  return seed * 0x9E3779B97F4A7C15U + tensor + 1;
}

struct Case::State {
  const Op& op;
  Workload workload;
  Device& device;
  CasePlacement placement;
  std::vector<TensorSpec> specs;
  int ranks = 1;
  int members = 1;             /// ranks that exist
  bool alone = true;           /// this process holds all ranks
  bool leads_batches = false;  /// others time the batches that this process's sampler requests
  std::int64_t sets = 1;
  double resident = 0;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<void*>> pointers;           ///< [set][tensor]
  std::vector<HostTensor> inputs;                     /// on the host until they have been compared
  std::vector<std::unique_ptr<Buffer>> first_values;  ///< [tensor] of an inout: what it holds before the first launch
  std::int64_t launches_since_restored = 0;
  std::int64_t next_set = 0;    ///< buffer set of the next batch's first launch
  std::size_t checked_set = 0;  ///< the set that is verified
  Kernel kernel;
  std::unique_ptr<Timer> timer;
  bool verified = false;

  State(const Op& the_op, const Workload& the_workload, Device& the_device, CasePlacement where)
      : op(the_op),
        workload(the_workload),
        device(the_device),
        placement(std::move(where)),
        specs(op.tensors(workload)) {
    ranks = ranks_of(specs);
    members = std::min(ranks, device.ranks());
    for (int rank = 0; rank < members; ++rank) alone = alone && device.holds(rank);
  }
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// True if this process holds the tensor, and the device whose memory it is in.
  bool holds(std::size_t t) const { return device.holds(specs[t].rank); }
  Device& device_of(std::size_t t) const { return device.rank(specs[t].rank); }

  /// Bytes between two sets of the tensor: with guards and offset, a multiple of 256.
  std::int64_t stride(std::size_t t) const {
    return guarded_bytes(specs[t]) + (placement.offset(t) + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  }

  // case.cpp
  Reading time(std::int64_t launches);

  // case_buffers.cpp
  void allocate();
  void fill(std::size_t t, HostTensor& tensor) const;
  void make_inputs();
  void repeat_inputs();
  void upload_inputs();
  void repeat_in_all_sets(std::size_t t);
  void keep_first_values();
  void copy_first_values();
  void restore_inouts();

  // case_checks.cpp
  void arm();
  std::string broken_guards();
  std::string changed_inputs();
  std::vector<HostTensor> download_outputs();

  // case_ranks.cpp
  std::string first_word(const std::string& mine) const;
  void all_do(const std::function<void()>& step) const;
  Verification verdict_of_all(Verification mine) const;
};

}  // namespace roofline
