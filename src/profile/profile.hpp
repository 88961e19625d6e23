// From a program to a report: runs it with the injected library, and computes rows, sums and findings.
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
  std::optional<pid_t> pid;          ///< a running process instead of a program
  std::optional<double> window_s;    ///< recording time; std::nullopt: until the program ends
  double warmup_s = 0;               ///< time from the first launch to the start of the window
  bool counters = true;
  double count_time_s = 30;  ///< limit on the time that counting adds
  bool python = true;        ///< record Python lines and modules
  bool sample = true;        ///< without a window: record the start-up and some steps; false: everything
  bool host = true;          ///< sample the program's threads
  bool gpu = true;           ///< record GPU use; false on a machine without a GPU
  bool baseline = false;     ///< also run it without the profiler, before and after
  std::string step_range;    ///< NVTX range that is a step; empty: detect steps
  /// roofline_count, for a second run that counts instructions; empty: no second run.
  std::filesystem::path count_tool;
  int model_share = 100;  ///< percent of the emulated time in which caches and branches are modelled
  /// Runs with the profiler, all but the first for missing counters; std::nullopt: as many as a short program needs.
  std::optional<int> runs;
  bool output_to_stderr = false;
  /// Set if this process is one of several ranks that each profile the program: the first one reports on all.
  std::shared_ptr<const JobFolder> job = {};
  std::filesystem::path spools;           ///< keep the recording in this folder; empty: do not keep
  std::function<void()> started = [] {};  ///< called when the recording of a running process has begun
  std::function<void(const std::string&)> print_status = [](const std::string&) {};  ///< prints a status line
};

/// Runs the program and reports on it. Throws UsageError if it cannot be started, DeviceError if this build lacks the
/// library and the host is not sampled. For a program without GPU use, the report has no rows, only host samples.
Report profile_program(const ProfileOptions& options, const Machine& machine);

/// Samples the running process `options.pid`, which continues afterwards. Throws like sample_running_process().
Report profile_running_process(const ProfileOptions& options, const Machine& machine);

/// Throws UsageError if the folder already contains a recording: both would be reported as one.
void require_no_recording(const std::filesystem::path& folder);

/// True if the folder has a GPU recording, not just host samples.
bool has_gpu_recording(const std::filesystem::path& folder);

/// Report on an earlier recording in a folder.
Report profile_of_spools(const ProfileOptions& options, const Machine& machine);

/// Facts about the program that its spools do not contain.
struct ProgramFacts {
  std::vector<std::string> program;
  std::string folder;             ///< working directory
  std::optional<ProgramRun> run;  ///< std::nullopt for an earlier recording
  std::optional<double> untraced_s;
  bool counters_wanted = true;
  bool window = false;  ///< only a window was recorded
  std::vector<DefectiveSpool> defective_spools = {};
  std::string step_range = {};  ///< NVTX range that is a step; empty: detect steps
  std::optional<HostSamples> host = {};
  KernelSamples instructions = {};                  ///< GPU kernels
  bool gpu = true;                                  ///< GPU use was recorded
  std::vector<Machine> other_machines = {};         ///< machines of other GPU models, for the kernels that ran on them
  std::optional<CountedInstructions> counted = {};  ///< counts of the emulated run
  double emulated_s = 0;                            ///< wall time of that run
  std::vector<ProcessTrace> condensed = {};         ///< further ranks of a job
  std::function<std::string(const std::string&)> source = {};  ///< contents of a source file; empty: not read
  std::vector<MpiProcess> mpi = {};                            ///< ranks of an MPI job, by rank
};

/// The report of these traces. Pure.
Report report_of(const std::vector<ProcessTrace>& traces, const ProgramFacts& facts, const Machine& machine);

}  // namespace roofline
