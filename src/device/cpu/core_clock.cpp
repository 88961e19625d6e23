// One cycle an addition holds for register operands on every x86-64 and AArch64 core; additions of a
// constant don't serve, as recent cores (Golden Cove) fold several of them into one cycle.
#include "device/cpu/core_clock.hpp"

#include <algorithm>
#include <chrono>

namespace roofline {
namespace {

constexpr int kRounds = 400;
constexpr int kAdditions = 100;  // of one round: enough to hide the loop's own counter

/// Seconds of kRounds x kAdditions additions, or 0 on an architecture that has no chain here.
double time_chain() {
  const auto start = std::chrono::steady_clock::now();
#if defined(__x86_64__)
  unsigned long long value = 0;
  const unsigned long long step = 1;
  for (int round = 0; round < kRounds; ++round) {
    asm volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r"(value) : "r"(step) : "cc");
  }
#elif defined(__aarch64__)
  unsigned long long value = 0;
  const unsigned long long step = 1;
  for (int round = 0; round < kRounds; ++round) {
    asm volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(value) : "r"(step));
  }
#else
  return 0;
#endif
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::optional<double> measure_core_hz() {
  const double seconds = std::min(time_chain(), time_chain());
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(kRounds) * kAdditions / seconds;
}

}  // namespace roofline
