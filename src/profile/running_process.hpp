// Samples the threads of a running process and its descendants from outside.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profile/program.hpp"

namespace roofline {

struct RunningProcess {
  std::vector<std::string> command;  ///< argv
  std::string folder;                ///< its working directory; empty: unreadable
  bool uses_cuda = false;            ///< it has loaded the CUDA driver
  ProgramRun run;                    ///< including the samples; no end of the process
};

/// Samples until the process ends, the time is over, or the user asks to stop (interrupts()), which leaves the process
/// running. `started` is called when sampling has begun. Throws UsageError if there is no such process, PermissionError
/// if its memory may not be read.
RunningProcess sample_running_process(pid_t pid, std::optional<double> stop_after_s,
                                      const std::function<void()>& started);

}  // namespace roofline
