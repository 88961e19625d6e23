// A chain of dependent integer additions among the instructions of a compute probe. Each takes one cycle on every
// x86-64 and AArch64 core (device/cpu/core_clock.cpp), so a loop that waits for the chain tells the clock at which
// those instructions run. Include only in files compiled for a level.
#pragma once

#include <cstdint>

namespace roofline {

/// Additions per 16 steps of a paced kernel. One that adds more often than the core takes steps waits for its chain:
/// two steps in a cycle, one, one in two cycles (VDPBF16PS of Golden Cove), and half of it where two virtual CPUs share
/// a core. 9 instead of 8, so that the chain surely decides, with the pipes busy for 8/9 of the time.
inline constexpr int kPaces[] = {9, 12, 18, 36, 72};
inline constexpr int kPaceCount = sizeof kPaces / sizeof *kPaces;

/// Additions in a turn of `steps` steps.
constexpr int additions_in(int steps, int pace) { return steps * pace / 16; }

class Chain {
 public:
  /// After step `step` of a turn of kSteps, in which there are to be kAdditions, evenly spread.
  template <int kSteps, int kAdditions>
  [[gnu::always_inline]] void add_after(int step) {
    for (int i = step * kAdditions / kSteps; i < (step + 1) * kAdditions / kSteps; ++i) add();
  }

  template <int kAdditions>
  [[gnu::always_inline]] void add() {
#pragma GCC unroll 128
    for (int i = 0; i < kAdditions; ++i) add();
  }

 private:
  [[gnu::always_inline]] void add() {
#if defined(__x86_64__)
    asm volatile("add %1, %0" : "+r"(value_) : "r"(step_) : "cc");
#elif defined(__aarch64__)
    asm volatile("add %0, %0, %1" : "+r"(value_) : "r"(step_));
#endif
  }

  std::uint64_t value_ = 0;
  std::uint64_t step_ = 1;
};

}  // namespace roofline
