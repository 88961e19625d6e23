// Samples the host side of a program from outside: what each of its threads and those of its descendants does, 99 times
// a second. Nothing is loaded into the program, and its threads are not stopped.
#pragma once

#include <sys/types.h>

#include <memory>

#include "sample/host_samples.hpp"

namespace roofline {

struct HostSamplerOptions {
  int rate_hz = 99;           ///< not 100, so that timers of 100 Hz are not sampled always at the same point
  bool native_stacks = true;  ///< of running threads, where the system allows it
  int code_rate_hz = 0;       ///< of CodeSamples, which have no stacks; 0: none
};

class HostSampler {
 public:
  /// Starts a thread that samples the process `root` and its descendants, and those that this process adopts from them.
  explicit HostSampler(pid_t root, const HostSamplerOptions& options = {});
  ~HostSampler();
  HostSampler(const HostSampler&) = delete;
  HostSampler& operator=(const HostSampler&) = delete;

  /// Stops sampling. To be called once.
  HostSamples stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace roofline
