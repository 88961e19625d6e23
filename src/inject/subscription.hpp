// The driver calls that CUPTI reports, and the activities that it records. Recording needs many of both, at about 3 us
// per launch; few are enabled while nothing is recorded.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "inject/driver_calls.hpp"
#include "inject/spool.hpp"

namespace roofline::inject {

class SpoolWriter;

class Subscription {
 public:
  static constexpr std::size_t kMostCalls = 2048;  ///< CUPTI 13.0 numbers 806

  CUptiResult subscribe(CUpti_CallbackFunc callback);
  /// Enables the records of kernels, and of what exists already: contexts, devices. Before anything else is enabled.
  CUptiResult begin();

  /// What recording needs: activities first, so that each launch that is reported has the records of its kernels.
  void record();
  /// No activities, and only these calls and those that are always followed: captures, nodes, allocations.
  void rest(const std::vector<CUpti_CallbackId>& followed);
  /// Starts or stops following additional calls while resting. Callable from callbacks, because it never waits for
  /// another thread. False: another thread is making changes, and nothing was changed.
  bool follow(const std::vector<CUpti_CallbackId>& ids, bool on);
  /// No callbacks and activities any more.
  void end();

  const DriverCall& call(CUpti_CallbackId id) const { return calls_[id]; }
  void seen(CUpti_CallbackId id) {
    if (!seen_[id].load(std::memory_order_relaxed)) seen_[id].store(true, std::memory_order_relaxed);
  }
  spool::Id name_of(SpoolWriter& spool, CUpti_CallbackId id, const char* name);

  // Calls that the program was seen to make.
  std::vector<CUpti_CallbackId> calls_of(spool::CallKind kind) const;
  std::vector<CUpti_CallbackId> calls_named(spool::Id name) const;
  /// All by which a kernel may be launched, seen or not.
  std::vector<CUpti_CallbackId> launches() const;

 private:
  template <typename Condition>
  std::vector<CUpti_CallbackId> calls_where(const Condition& condition) const;
  void apply(const std::array<bool, kMostCalls>& wanted);
  void set(CUpti_CallbackId id, bool on);

  std::array<DriverCall, kMostCalls> calls_ = {};
  std::array<std::atomic<spool::Id>, kMostCalls> names_ = {};
  std::array<std::atomic<bool>, kMostCalls> seen_ = {};

  std::mutex mutex_;  // CUPTI requires the changes of a subscriber one at a time
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::array<bool, kMostCalls> on_ = {};
  bool ended_ = false;
};

/// The subscription of this process. Never freed, because threads may be in it when the process ends.
Subscription& subscription();

}  // namespace roofline::inject
