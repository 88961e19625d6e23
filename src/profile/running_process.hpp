// Samples a process that runs already: its threads and those of its descendants, from outside.
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
  std::string folder;                ///< its working directory; empty: not readable
  bool uses_cuda = false;            ///< it has loaded the CUDA driver
  ProgramRun run;                    ///< with the samples, and without an end of the process
};

/// Until the process ends, that time is over, or the user asks to stop (interrupts()), which does not end the process.
/// `started` is called when sampling has begun. Throws UsageError where there is no such process, PermissionError where
/// its memory may not be read.
RunningProcess sample_running_process(pid_t pid, std::optional<double> stop_after_s,
                                      const std::function<void()>& started);

}  // namespace roofline
