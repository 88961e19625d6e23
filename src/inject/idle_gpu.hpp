// Waits until the GPU has nothing to do, with time limits: most calls of CUPTI's profiler wait without one.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "inject/clock.hpp"
#include "inject/cupti_library.hpp"
#include "inject/gate.hpp"

namespace roofline::inject {

/// Queued work that takes longer is not waited for.
inline constexpr std::uint64_t kLongestDrain = 3 * kSecond;

/// Captures and the gate may be used by any thread, all else by the thread that holds the mutex of counting.
class IdleGpu {
 public:
  /// A context, with an event of it that is recorded behind its work. Null: no context.
  struct Awaited {
    CUcontext context = nullptr;
    CUevent event = nullptr;
  };
  /// Work that did not end in time.
  struct Unended {
    Awaited of;
    std::uint64_t since = 0;
    bool counted = false;  ///< a range is still open around it
  };

  Gate& gate() { return gate_; }
  bool is_captured() const { return captures_.load() > 0; }
  void capture_begins() { ++captures_; }
  void capture_ends();

  /// True if both contexts have nothing to do. Then the gate is closed until open_gate(). Throws Error. `counted`: a
  /// range is still open.
  bool await(const DriverEvents& driver, Awaited own, Awaited session, bool counted);
  /// True if a counted launch has ended and nothing is left of what other threads launched meanwhile. Then the gate is
  /// closed. Throws Error.
  bool await_launch(const DriverEvents& driver, Awaited own, std::uint64_t limit);
  void open_gate();
  /// The gate is closed, and the awaited contexts have nothing to do.
  bool is_idle() const { return idle_; }

  /// Attempts that fail are repeated after growing pauses.
  bool may_try() const { return now() >= next_; }
  void wait_until(std::uint64_t time) { next_ = time > next_ ? time : next_; }
  void try_now() { next_ = 0; }
  bool has_failed() const { return attempts_ > 0; }
  bool never_idle() const;

  const std::optional<Unended>& unended() const { return unended_; }
  /// The work has ended by now; later attempts wait accordingly.
  void unended_ended(std::uint64_t time);
  void forget(CUcontext context);

 private:
  bool ends(const DriverEvents& driver, Awaited of, std::uint64_t limit, bool interruptible) const;

  Gate gate_;
  std::atomic<int> captures_ = 0;
  bool idle_ = false;
  std::optional<Unended> unended_;
  std::uint64_t drain_limit_ = kSecond / 5;  ///< of queued work, at first
  int attempts_ = 0;                         ///< consecutive failures
  std::uint64_t next_ = 0;                   ///< time of the next attempt
};

}  // namespace roofline::inject
