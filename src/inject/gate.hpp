// Keeps calls that give the GPU work out, while something must have it to itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "inject/clock.hpp"

namespace roofline::inject {

/// Calls that give the GPU work or code go through it. Closed, it is quiet behind them.
class Gate {
 public:
  /// Waits while it is closed.
  void enter() {
    for (inside_.fetch_add(1); closed_.load(); inside_.fetch_add(1)) {
      leave();
      closed_.wait(true);
    }
  }
  void leave() { inside_.fetch_sub(1); }

  /// False, and open: who was inside has not come out in time.
  bool close(std::uint64_t limit) {
    closed_ = true;
    for (const std::uint64_t since = now(); inside_.load() > 0;) {
      if (now() - since > limit) {
        open();
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }
  void open() {
    closed_ = false;
    closed_.notify_all();
  }

 private:
  std::atomic<bool> closed_ = false;
  std::atomic<int> inside_ = 0;
};

}  // namespace roofline::inject
