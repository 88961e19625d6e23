#include "inject/idle_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "model/error.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kSpin = kSecond / 10'000;
constexpr std::uint64_t kFirstPause = kSecond / 2;  // after the GPU was not idle; doubles each time
constexpr int kMostAttempts = 5;

}  // namespace

void IdleGpu::capture_ends() {
  if (--captures_ < 0) captures_ = 0;
}

/// True if all that the context has to do ends in time. `interruptible`: a capture that is to begin ends the wait.
bool IdleGpu::ends(const DriverEvents& driver, Awaited of, std::uint64_t limit, bool interruptible) const {
  const auto interrupted = [&] { return interruptible && is_captured(); };
  if (interrupted()) return false;  // even this would break a capture
  const std::uint64_t since = now();
  if (const CUresult status = driver.context_record(of.context, of.event); status != CUDA_SUCCESS) {
    throw Error("the driver can't report when a GPU is idle (CUDA error " + std::to_string(static_cast<int>(status)) +
                ")");
  }
  while (driver.event_query(of.event) == CUDA_ERROR_NOT_READY) {
    if (interrupted()) return false;
    const std::uint64_t waited = now() - since;
    if (waited > limit) return false;
    if (waited < kSpin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return true;
}

bool IdleGpu::await_launch(const DriverEvents& driver, Awaited own, std::uint64_t limit) {
  const std::uint64_t since = now();
  idle_ = false;
  idle_ = ends(driver, own, limit, false) && gate_.close(limit) && ends(driver, own, limit, false);
  if (!idle_) unended_ = Unended{own, since, true};
  return idle_;
}

bool IdleGpu::await(const DriverEvents& driver, Awaited own, Awaited session, bool counted) {
  idle_ = false;
  if (is_captured()) return false;
  const std::uint64_t since = now();
  Awaited asked = own;
  const auto idle = [&](Awaited of) {
    asked = of;
    return ends(driver, of, drain_limit_, true);
  };
  // With the gate open at first: what is under way may need what other threads launch.
  const bool ended = idle(own);
  const bool closed = ended && gate_.close(drain_limit_);
  const bool alone = session.context == nullptr || session.context == own.context;
  idle_ = closed && idle(own) && (alone || idle(session));
  if (idle_) {
    attempts_ = 0;
    return true;
  }
  open_gate();
  if (is_captured()) return false;
  if (!ended || closed) unended_ = Unended{asked, since, counted};
  next_ = now() + (kFirstPause << attempts_);
  ++attempts_;
  return false;
}

void IdleGpu::open_gate() {
  idle_ = false;
  gate_.open();
}

bool IdleGpu::never_idle() const { return attempts_ >= kMostAttempts; }

void IdleGpu::unended_ended(std::uint64_t time) {
  // A program whose queue is long is waited for accordingly.
  if (!unended_->counted) drain_limit_ = std::clamp(2 * (time - unended_->since), drain_limit_, kLongestDrain);
  unended_.reset();
}

void IdleGpu::forget(CUcontext context) {
  if (unended_ && unended_->of.context == context) unended_.reset();
}

}  // namespace roofline::inject
