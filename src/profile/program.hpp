// Runs the profiled program, with or without the injected library; its streams, signals and folder are unchanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sample/host_samples.hpp"

namespace roofline {

struct ProgramRun {
  std::optional<int> exit_status;
  std::optional<int> signal;             ///< that ended it
  std::uint64_t start = 0, end = 0;      ///< ns of CLOCK_MONOTONIC: from its start to the end of its last process
  bool interrupted = false;              ///< the user asked to stop
  bool stopped = false;                  ///< we ended it, because its window was over
  std::optional<HostSamples> host = {};  ///< where they were asked for
};

struct ProgramOptions {
  std::vector<std::string> command;                ///< argv; the first is looked up in PATH
  std::map<std::string, std::string> environment;  ///< set or replaced
  std::filesystem::path spools;                    ///< of its processes; empty: none, run it as it is
  bool has_window = false;                         ///< end it when the windows of all recording processes are over
  std::optional<double> stop_after_s = {};         ///< end it this long after its start
  bool output_to_stderr = false;  ///< its stdout goes to stderr, because roofline's own is read by a program
  bool sample_host = false;       ///< sample what its threads do
  int code_rate_hz = 0;           ///< sample their instructions, too, so many times per second of their CPU time
  bool quiet = false;             ///< its output is discarded and it reads nothing
};

/// Starts the program and waits for it and for those of its processes that record. Ctrl-C reaches it as it would
/// without roofline, SIGTERM is passed on; it is given ten seconds to end then. Throws UsageError when it can't be
/// started (not found, not executable).
ProgramRun run_program(const ProgramOptions& options);

}  // namespace roofline
