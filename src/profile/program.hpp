// Runs the profiled program with or without the injected library; streams, signals and working folder are unchanged.
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
  std::optional<int> signal;             ///< signal that ended it
  std::uint64_t start = 0, end = 0;      ///< ns, CLOCK_MONOTONIC: from its start to the end of its last process
  bool interrupted = false;              ///< the user asked to stop
  bool stopped = false;                  ///< ended by roofline after its window
  std::optional<HostSamples> host = {};  ///< if requested
};

struct ProgramOptions {
  std::vector<std::string> command;                ///< argv; the first is looked up in PATH
  std::map<std::string, std::string> environment;  ///< variables to set or replace
  std::filesystem::path spools;                    ///< folder for the spools; empty: run without the library
  bool has_window = false;                  ///< end the program when the windows of all recording processes are over
  std::optional<double> stop_after_s = {};  ///< end the program after this time
  bool output_to_stderr = false;            ///< redirect its stdout to stderr, because a program reads roofline's
  bool sample_host = false;                 ///< sample its threads
  int code_rate_hz = 0;                     ///< sample its instructions at this rate per second of CPU time
  bool quiet = false;                       ///< discard its output, with empty stdin
};

/// Sum over all child processes reaped so far.
ProcessUsage usage_of_children();

/// Starts the program and waits for it and its recording processes. It receives Ctrl-C as it would without roofline;
/// SIGTERM is forwarded, with ten seconds to end. Throws UsageError if it cannot be started (not found, not
/// executable).
ProgramRun run_program(const ProgramOptions& options);

}  // namespace roofline
