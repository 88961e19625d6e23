// The addresses that a kernel accesses, in order, without performance counters: its buffers' pages are protected, so
// that each access faults and is executed in single-step mode. A few microseconds per access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace roofline {

struct TracedAccess {
  std::uint32_t buffer = 0;  ///< index
  bool is_write = false;
  std::uint64_t address = 0;
};

/// True if this system can trace: Linux on x86-64.
bool can_trace_accesses();

/// Where a trace ends; the rest of the kernel runs untraced.
struct TraceLimits {
  std::size_t accesses = 4000;
  double seconds = 0.3;
};

/// Runs `run` on the calling thread and returns its first accesses to `buffers`, each of at least an instruction. Ends
/// early where another thread accesses them. Only for kernels that make no system call on them. The buffers lose
/// their huge pages.
std::vector<TracedAccess> trace_accesses(std::span<const std::span<std::byte>> buffers, const TraceLimits& limits,
                                         const std::function<void()>& run);

}  // namespace roofline
