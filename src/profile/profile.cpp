// Runs a program with the library in it, in a private folder that is gone afterwards.
#include "profile/profile.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "host/environment.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/private_folder.hpp"
#include "inject/spool.hpp"
#include "model/error.hpp"
#include "mpi/calls.h"
#include "profile/condensed_trace.hpp"
#include "profile/cpu/counted_part.hpp"
#include "profile/cpu/emulator.hpp"
#include "profile/host_sums.hpp"
#include "profile/instructions.hpp"
#include "profile/metrics.hpp"
#include "profile/missing_counts.hpp"
#include "profile/mpi/mpi_library.hpp"
#include "profile/mpi/mpi_lines.hpp"
#include "profile/native_lines.hpp"
#include "profile/rank_recordings.hpp"
#include "profile/running_process.hpp"
#include "profile/source_text.hpp"
#include "profile/unused_compile.hpp"
#include "sample/samples_file.hpp"

extern "C" {
extern const char roofline_inject_library_begin[];
extern const char roofline_inject_library_end[];
}

namespace roofline {
namespace {

namespace fs = std::filesystem;

bool has_library() { return &roofline_inject_library_begin[0] != &roofline_inject_library_end[0]; }

void require_library() {
  if (has_library()) return;
  throw DeviceError("this roofline was built without CUDA: it can't record GPU kernels",
                    "build with the CUDA Toolkit installed (-DROOFLINE_CUDA=ON), or remove --no-host");
}

/// Writes the library and its files into the folder; returns the environment that loads it.
std::map<std::string, std::string> prepare(const fs::path& folder, const ProfileOptions& options) {
  const fs::path library = folder / "libroofline_inject.so";
  write_file(library, {roofline_inject_library_begin, roofline_inject_library_end});
  fs::permissions(library, fs::perms::owner_read | fs::perms::owner_exec);
  write_file(folder / "spools" / spool::kMetricsFile, metrics_text());
  std::map<std::string, std::string> changes = {
      {"CUDA_INJECTION64_PATH", library.string()},
      {"NVTX_INJECTION64_PATH", library.string()},
      {spool::kFolderVariable, (folder / "spools").string()},
      {spool::kCountTimeVariable, fmt::format("{}", options.counters ? options.count_time_s : 0)},
      {spool::kWarmupVariable, fmt::format("{}", options.warmup_s)},
  };
  if (options.window_s) changes[spool::kWindowVariable] = fmt::format("{}", *options.window_s);
  changes[spool::kRecordVariable] = options.sample ? "sample" : "all";
  if (!options.python) changes[spool::kPythonVariable] = "off";
  return changes;
}

void check_environment() {
  const std::string other = environment_variable("CUDA_INJECTION64_PATH");
  if (other.empty()) return;
  throw UsageError(fmt::format("another tool is injected into CUDA programs: CUDA_INJECTION64_PATH is {}", other),
                   "unset CUDA_INJECTION64_PATH; only one tool can be injected at a time");
}

/// Copies every spool, each under a temporary name first, so that a full disk leaves none in part.
void keep(const fs::path& spools, const fs::path& where) {
  std::error_code failure;
  fs::create_directories(where, failure);
  for (const auto& entry : fs::directory_iterator(spools)) {
    const fs::path kind = entry.path().extension();
    if (kind != spool::kExtension && kind != spool::kCubinExtension && kind != ROOFLINE_MPI_EXTENSION) continue;
    const fs::path place = where / entry.path().filename();
    fs::path temporary = place;
    temporary += fmt::format(".{}.tmp", ::getpid());
    fs::copy_file(entry.path(), temporary, fs::copy_options::overwrite_existing, failure);
    if (!failure) fs::rename(temporary, place, failure);
    if (!failure) continue;
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw UsageError(fmt::format("{}: {}", where.string(), failure.message()));
  }
}

/// Keeps what the first rank needs from one of many ranks.
void keep_condensed(const std::vector<ProcessTrace>& traces, const fs::path& where) {
  for (const ProcessTrace& trace : traces) {
    if (!can_be_condensed(trace)) continue;
    const std::string name = fmt::format("{}.{}", trace.process.pid, trace.process.start);
    write_file(where / (name + kCondensedExtension), write_condensed(condensed(trace)));
  }
}

void keep_counts(const fs::path& from, const fs::path& where) {
  for (const auto& entry : fs::directory_iterator(from)) {
    if (is_counts_file(entry.path())) {
      fs::copy_file(entry.path(), where / entry.path().filename(), fs::copy_options::overwrite_existing);
    }
  }
}

void keep_host_samples(const std::optional<HostSamples>& host, const fs::path& where) {
  if (host && !host->samples.empty()) write_file(where / kHostSamplesFile, write_host_samples(*host));
}

/// The lines of native calls in a recording of earlier, where the program's files may have changed since.
NativeLines kept_native_lines(const fs::path& folder) {
  constexpr FileLimit kLinesLimit{std::uint64_t{1} << 28, "a file of native source lines"};
  std::error_code hidden;
  if (!fs::is_regular_file(folder / kNativeLinesFile, hidden)) return {};
  return read_native_lines(read_file(folder / kNativeLinesFile, kLinesLimit));
}

/// Times of loops come from samples, of which 99 per second are few. 1 kHz costs less than 1 % (docs/profile.md).
constexpr int kCodeRate = 997;

bool used_gpu(const HostSamples& samples) {
  return std::ranges::any_of(samples.code.modules,
                             [](const std::string& path) { return path.find("/libcuda.so") != std::string::npos; });
}

/// An MPI program that a launcher started can't start a second time, for instance.
void check_end(const ProgramRun& native, const ProgramRun& emulated, CountedInstructions& counted) {
  const auto is_complete = [](const CountedProcess& process) { return process.end == CountEnd::complete; };
  if (!native.exit_status || !emulated.exit_status || *native.exit_status == *emulated.exit_status) return;
  if (!std::ranges::all_of(counted.processes, is_complete) || !counted.unreadable.empty()) return;
  counted.unreadable = fmt::format("the emulated run ended with exit status {}, the native one with {}",
                                   *emulated.exit_status, *native.exit_status);
}

/// Runs the program again under emulation, and reads what was counted.
void count_instructions(const ProfileOptions& options, const ProgramOptions& native, ProgramFacts& facts) {
  if (options.count_tool.empty() || !facts.run || facts.run->interrupted) return;
  if (facts.host && used_gpu(*facts.host)) {
    throw UsageError("the program uses a GPU: its instructions are not counted under emulation",
                     "remove --emulate; the kernels' counters are read while it runs");
  }
  if (facts.host && !facts.host->code.why_none.empty()) {
    options.print_status("no instruction samples, so nothing is counted: " + facts.host->code.why_none);
    return;
  }
  const PrivateFolder folder;
  options.print_status(
      fmt::format("running the program again to count its instructions: 10 to 50 times slower, {:.0f} s at most, "
                  "output discarded",
                  options.count_time_s));
  const ProgramRun run = run_program(
      emulated_program(native, options.count_tool, folder.path(), options.count_time_s, options.model_share));
  facts.emulated_s = static_cast<double>(run.end - run.start) * 1e-9;
  time_counted_part(native, folder.path(), options.count_time_s);
  facts.counted = read_counts_folder(folder.path());
  check_end(*facts.run, run, *facts.counted);
  if (!options.spools.empty()) keep_counts(folder.path(), options.spools);
}

/// This rank's recording is complete; the first rank waits for the others' and adds them.
void add_other_ranks(const JobFolder& job, const ProfileOptions& options, std::vector<ProcessTrace>& traces,
                     ProgramFacts& facts) {
  constexpr double kPatience = 60;
  job.end();
  if (!job.leads()) return;
  std::vector<fs::path> folders = job.await(kPatience, options.print_status);
  if (const auto missing = job.world().size - static_cast<int>(folders.size()); missing > 0 && folders.size() > 1) {
    options.print_status(fmt::format("{} of {} ranks left no recording", missing, job.world().size));
  }
  // Reads all of them again, including this one's.
  traces.clear();
  facts.mpi.clear();
  facts.host.reset();
  add_rank_folders(folders, traces, facts);
}

void add_invocation(Report& report, const ProfileOptions& options, const std::string& started_at, double duration_s) {
  report.invocation.command = options.command;
  report.invocation.run_name =
      report.profile->program.empty() ? "program" : fs::path(report.profile->program.front()).filename().string();
  report.invocation.tool_version = ROOFLINE_VERSION;
  report.invocation.started_at = started_at;
  report.invocation.duration_s = duration_s;
  report.invocation.counting_s = report.profile->counting_s;
}

/// Of the kept recordings of several runs; the first is 1.
fs::path folder_of_run(const fs::path& spools, int number) {
  return number == 1 ? spools : spools / fmt::format("run-{}", number);
}

/// Adds the counts of a run that was made for them alone.
void add_counts(std::vector<ProcessTrace>& traces, std::vector<ProcessTrace> more) {
  for (ProcessTrace& trace : more) {
    if (trace.counts.empty()) continue;
    ProcessTrace counts = std::move(trace);
    counts.counts_only = true;
    counts.launches.clear();
    counts.kernels.clear();
    counts.copies.clear();
    counts.fills.clear();
    counts.calls.clear();
    counts.range_times.clear();
    counts.notes.clear();
    traces.push_back(std::move(counts));
  }
}

}  // namespace

Report profile_program(const ProfileOptions& options, const Machine& machine) {
  const bool gpu = options.gpu && (has_library() || !options.host);
  if (gpu) {
    require_library();
    check_environment();
  }
  const std::string started_at = utc_now();
  const double start = wall_seconds();
  ProgramFacts facts = {.program = options.program,
                        .folder = fs::current_path().string(),
                        .run = {},
                        .untraced_s = {},
                        .counters_wanted = options.counters && gpu,
                        .window = options.window_s || options.warmup_s > 0,
                        .step_range = options.step_range};
  ProgramOptions plain = {.command = options.program, .environment = {}, .spools = {}};
  plain.output_to_stderr = options.output_to_stderr;
  // The first run also warms the file system caches, so the faster of two runs counts.
  const auto run_plain = [&](const char* when) {
    if (!options.baseline || interrupted()) return;
    options.print_status(
        fmt::format("running the program without the profiler ({} the recording), to measure the overhead", when));
    const ProgramRun run = run_program(plain);
    const double time = static_cast<double>(run.end - run.start) * 1e-9;
    if (!run.interrupted) facts.untraced_s = std::min(time, facts.untraced_s.value_or(time));
  };
  run_plain("before");
  std::vector<ProcessTrace> traces;
  std::vector<DefectiveSpool> defective;
  NativeLines native_lines;
  const bool may_run_again =
      gpu && options.counters && !options.window_s && !(options.warmup_s > 0) && options.job == nullptr;
  RunsForCounts runs;
  bool again = true;
  for (int number = 0; again; ++number) {
    const PrivateFolder folder;
    ProgramOptions injected = plain;
    injected.spools = folder.path() / "spools";
    if (gpu) {
      injected.environment = prepare(folder.path(), options);
      injected.environment[spool::kRunVariable] = fmt::format("{}/{}", number + 1, options.runs.value_or(number + 1));
      if (options.counters && number == 0) injected.environment[spool::kInstructionsVariable] = "on";
      injected.has_window = options.window_s.has_value();
    } else {
      // Without launches, warm-up and window count from the program's start.
      if (options.window_s) injected.stop_after_s = options.warmup_s + *options.window_s;
      fs::create_directory(injected.spools);
    }
    if (options.host && runs_ranks(options.program)) {
      for (auto& [name, value] : load_mpi_library(folder.path(), injected.spools)) injected.environment[name] = value;
    }
    injected.sample_host = options.host && number == 0;
    if (!gpu || !options.count_tool.empty()) injected.code_rate_hz = kCodeRate;
    if (number > 0 && options.runs) {
      options.print_status(fmt::format("running the program again for counters: {} of {}", number + 1, *options.runs));
    } else if (number > 0) {
      injected.quiet = true;
      options.print_status("running the program again for counters, because it ended before they were read");
    }
    ProgramRun run = run_program(injected);
    const bool interrupted_run = run.interrupted, repeatable = may_run_again && is_short(run);
    std::vector<ProcessTrace> of_run = read_spools(injected.spools, defective);
    find_native_lines(of_run, native_lines);
    add_native_lines(of_run, native_lines);
    if (!options.spools.empty()) keep(injected.spools, folder_of_run(options.spools, number + 1));
    if (number == 0) {
      facts.instructions = kernel_samples(of_run);
      SourceTexts sources;
      add_source_text(facts.instructions, sources);
      facts.host = std::move(run.host);
      if (!gpu && facts.host) facts.host = after_warmup(*std::move(facts.host), options.warmup_s, run.start, run.end);
      facts.mpi = read_mpi_ranks(injected.spools, facts.host, defective);
      if (!options.spools.empty()) {
        keep_host_samples(facts.host, options.spools);
        if (!native_lines.empty()) write_file(options.spools / kNativeLinesFile, write_native_lines(native_lines));
        if (options.job) keep_condensed(of_run, options.spools);
        if (!facts.mpi.empty()) write_file(options.spools / kMpiLinesFile, write_mpi_lines(facts.mpi));
      }
      facts.run = std::move(run);
      traces = std::move(of_run);
    } else {
      add_counts(traces, std::move(of_run));
    }
    again = options.runs ? number + 1 < *options.runs && !interrupted_run : runs.another(repeatable, traces);
  }
  run_plain("after");
  count_instructions(options, plain, facts);
  facts.defective_spools = std::move(defective);
  facts.gpu = gpu;
  facts.source = read_source;
  if (options.job) add_other_ranks(*options.job, options, traces, facts);
  Report report = report_of(traces, facts, machine);
  SourceTexts sources;
  if (report.profile->host) add_source_text(report.profile->host->lines, sources);
  add_source_text(report.profile->savings, traces, facts.host);
  if (runs.made() > 1) {
    report.notes.push_back(
        fmt::format("The program ran {} times, because it ended before its counters were read. --runs 1 runs it once.",
                    runs.made()));
  }
  name_unused_compile(report.profile->savings, traces);
  add_invocation(report, options, started_at, wall_seconds() - start);
  return report;
}

Report profile_running_process(const ProfileOptions& options, const Machine& machine) {
  const std::string started_at = utc_now();
  const double start = wall_seconds();
  std::optional<double> stop_after_s;
  if (options.window_s) stop_after_s = options.warmup_s + *options.window_s;
  RunningProcess process = sample_running_process(*options.pid, stop_after_s, [&] {
    options.print_status(
        fmt::format("sampling process {}; an interrupt ends the recording, not the process", *options.pid));
    options.started();
  });
  ProgramFacts facts = {.program = std::move(process.command),
                        .folder = std::move(process.folder),
                        .run = {},
                        .untraced_s = {},
                        .counters_wanted = false,
                        .window = true};
  facts.host = after_warmup(*std::move(process.run.host), options.warmup_s, process.run.start, process.run.end);
  if (!options.spools.empty()) keep_host_samples(facts.host, options.spools);
  facts.run = std::move(process.run);
  facts.gpu = false;
  Report report = report_of({}, facts, machine);
  if (process.uses_cuda) {
    report.notes.emplace_back(
        "the process uses CUDA: its kernels are not recorded, because CUDA had started before; start the program with "
        "roofline profile");
  }
  add_invocation(report, options, started_at, wall_seconds() - start);
  return report;
}

void require_no_recording(const fs::path& folder) {
  std::error_code hidden;  // a folder that cannot be listed cannot be written either, which is reported later
  for (fs::recursive_directory_iterator entry(folder, hidden), end; entry != end; entry.increment(hidden)) {
    if (entry->path().extension() != spool::kExtension && entry->path().filename() != kHostSamplesFile) continue;
    throw UsageError(fmt::format("{}: contains a recording already ({})", folder.string(),
                                 entry->path().lexically_relative(folder).string()),
                     "choose another folder for --keep, or delete that one: two recordings would be reported as one");
  }
}

bool has_gpu_recording(const fs::path& folder) {
  std::error_code hidden;  // reported where it is read
  for (const auto& entry : fs::recursive_directory_iterator(folder, hidden)) {
    if (entry.path().extension() == spool::kExtension) return true;
  }
  return false;
}

Report profile_of_spools(const ProfileOptions& options, const Machine& machine) {
  if (!fs::is_directory(options.spools)) {
    throw UsageError(fmt::format("{}: not a folder", options.spools.string()),
                     "pass a folder written by roofline profile --keep");
  }
  ProgramFacts facts = {
      .program = options.program, .folder = {}, .run = {}, .untraced_s = {}, .step_range = options.step_range};
  std::vector<ProcessTrace> traces;
  std::vector<fs::path> folders = rank_folders(options.spools);
  folders.insert(folders.begin(), options.spools);
  add_rank_folders(folders, traces, facts);
  for (int run = 2; fs::is_directory(folder_of_run(options.spools, run)); ++run) {
    add_counts(traces, read_spools(folder_of_run(options.spools, run), facts.defective_spools));
  }
  if (!options.host) facts.host.reset();
  NativeLines native_lines;
  for (const fs::path& folder : folders) native_lines.merge(kept_native_lines(folder));
  find_native_lines(traces, native_lines);
  add_native_lines(traces, native_lines);
  facts.instructions = kernel_samples(traces);
  CountedInstructions counted = read_counts_folder(options.spools);
  if (!counted.processes.empty() || !counted.unreadable.empty()) facts.counted = std::move(counted);
  if (traces.empty() && facts.mpi.empty() && !facts.host) {
    const std::vector<std::string> notes = notes_of(facts.defective_spools);
    throw UsageError(fmt::format("{}: contains no {}", options.spools.string(),
                                 notes.empty() ? "recording" : "readable spools; " + notes.front()),
                     "pass a folder written by roofline profile --keep");
  }
  Report report = report_of(traces, facts, machine);
  add_invocation(report, options, utc_now(), 0);
  return report;
}

}  // namespace roofline
