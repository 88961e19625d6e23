// From a program to a report: runs it with the library in it, and makes rows, sums and the answer of what that wrote.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "profile/cpu/counted_instructions.hpp"
#include "profile/job_folder.hpp"
#include "profile/mpi/mpi_process.hpp"
#include "profile/process_trace.hpp"
#include "profile/program.hpp"
#include "report/report.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

struct ProfileOptions {
  std::vector<std::string> command;  ///< roofline's own argv
  std::vector<std::string> program;  ///< argv of the program
  std::optional<pid_t> pid;          ///< a running process, in place of a program
  std::optional<double> window_s;    ///< of recording; nothing: to the program's end
  double warmup_s = 0;               ///< from its first launch to the window's beginning
  bool counters = true;
  double count_time_s = 30;  ///< that counting may add
  bool python = true;        ///< lines and modules
  bool sample = true;        ///< record the start-up and some steps, without a window; else everything
  bool host = true;          ///< sample what the program's threads do
  bool gpu = true;           ///< record its use of GPUs; not on a machine without one
  bool baseline = false;     ///< also run it without the profiler, before and after
  std::string step_range;    ///< NVTX range that is a step; empty: steps are found
  /// roofline_count, with which the program runs again for counts of its instructions; empty: it does not.
  std::filesystem::path count_tool;
  int runs = 1;  ///< with the profiler; all but the first for missing counters
  bool output_to_stderr = false;
  /// Where this process is one of several ranks, each of which runs the program: the first one's report is of all.
  std::shared_ptr<const JobFolder> job = {};
  std::filesystem::path spools;           ///< keep what was recorded there; empty: nowhere
  std::function<void()> started = [] {};  ///< the recording of a running process has begun
  std::function<void(const std::string&)> print_status = [](const std::string&) {};  ///< a line for the user
};

/// Runs the program and reports on it. Throws UsageError when it can't be started, DeviceError when this build has no
/// library for it and the host is not to be sampled. A program that never used a GPU has a report without rows,
/// with the host's samples.
Report profile_program(const ProfileOptions& options, const Machine& machine);

/// Samples the threads of the running process `options.pid`, which goes on. Throws as sample_running_process() does.
Report profile_running_process(const ProfileOptions& options, const Machine& machine);

/// Throws UsageError where a folder that is to keep a recording has one already: both would be reported as one.
void require_no_recording(const std::filesystem::path& folder);

/// Whether a folder has a recording of GPUs, and not only of the host.
bool has_gpu_recording(const std::filesystem::path& folder);

/// The report of what was recorded into a folder before.
Report profile_of_spools(const ProfileOptions& options, const Machine& machine);

/// What is known of the program beside its spools.
struct ProgramFacts {
  std::vector<std::string> program;
  std::string folder;             ///< working directory
  std::optional<ProgramRun> run;  ///< nothing for spools of another time
  std::optional<double> untraced_s;
  bool counters_wanted = true;
  bool window = false;  ///< only a part of it was to be recorded
  std::vector<DefectiveSpool> defective_spools = {};
  std::string step_range = {};  ///< NVTX range that is a step; empty: steps are found
  std::optional<HostSamples> host = {};
  KernelSamples instructions = {};                  ///< of its GPU kernels
  bool gpu = true;                                  ///< its use of GPUs was to be recorded
  std::vector<Machine> other_machines = {};         ///< of other GPU models, each for the kernels that ran on one
  std::optional<CountedInstructions> counted = {};  ///< of the emulated run
  double emulated_s = 0;                            ///< wall time of that run
  std::vector<ProcessTrace> condensed = {};         ///< of further ranks of a job
  std::vector<MpiProcess> mpi = {};                 ///< ranks of a job under MPI, by rank
};

/// The report of these traces: a function of its arguments.
Report report_of(const std::vector<ProcessTrace>& traces, const ProgramFacts& facts, const Machine& machine);

}  // namespace roofline
