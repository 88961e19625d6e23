// Native stacks of running threads: a CPU clock event of the kernel interrupts each thread of a process and of its
// descendants many times per second of CPU time, and copies its registers and the top of its stack. Where the kernel
// allows it, also in the kernel: then the registers and the stack are those with which the thread entered it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/process.hpp"
#include "sample/native_stack.hpp"

namespace roofline {

/// What the kernel records of a thread: registers and its stack, only the instruction, or registers and stack at page
/// faults instead of at ticks of the clock.
enum class CpuSampleContent : std::uint8_t { stack, instruction, fault };

struct CpuSample {
  pid_t pid = 0, tid = 0;
  std::uint64_t time = 0;  ///< ns of CLOCK_MONOTONIC
  bool kernel = false;     ///< taken while it ran in the kernel
  Registers registers;
  std::string_view stack;  ///< from the stack pointer on
};

/// Parses a sample's record after its header, in the layout that the kernel writes; false if it is invalid. An
/// instruction has only its program counter set.
bool parse_cpu_sample(std::string_view record, CpuSample& sample, CpuSampleContent content = CpuSampleContent::stack);

class CpuSampling {
 public:
  /// Samples these threads and all that they start from now on.
  CpuSampling(const std::vector<pid_t>& threads, int rate_hz, CpuSampleContent content = CpuSampleContent::stack);
  ~CpuSampling();
  CpuSampling(const CpuSampling&) = delete;
  CpuSampling& operator=(const CpuSampling&) = delete;

  /// Empty if it samples.
  const std::string& why_not() const { return why_not_; }
  /// True if it also samples threads in the kernel, which needs a permission (kernel.perf_event_paranoid of 1).
  bool sees_kernel() const { return sees_kernel_; }
  /// Waits for a sample, at most this long. False if there was none.
  bool wait(std::chrono::nanoseconds patience) const;
  /// Calls `take` for each sample since the last call.
  void drain(const std::function<void(const CpuSample&)>& take);

 private:
  struct Ring {
    Descriptor event;
    void* memory = nullptr;
  };
  bool open(pid_t thread, int cpu, int rate_hz);
  void drain(const Ring& ring, const std::function<void(const CpuSample&)>& take);

  CpuSampleContent content_;
  bool sees_kernel_ = false;
  std::vector<Ring> rings_;
  std::string why_not_;
  std::string record_;
};

}  // namespace roofline
