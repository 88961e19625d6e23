#include "profile/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <system_error>

#include "host/clock.hpp"
#include "host/environment.hpp"
#include "host/interrupt.hpp"
#include "host/process.hpp"
#include "inject/spool.hpp"
#include "model/error.hpp"
#include "sample/host_sampler.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kGrace = 10 * kNsPerSecond;  ///< from asking a program to end to ending it
constexpr useconds_t kPoll = 20'000;

double seconds_of(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicro;
}

/// What to type instead of a program that the system refused to start.
std::string how_to_start(const std::string& program, int error) {
  std::error_code unknown;
  const bool exists = fs::exists(program, unknown), is_path = program.find('/') != std::string::npos;
  if (error == EACCES && fs::is_directory(program, unknown)) return "it is a directory";
  if (error == EACCES || error == ENOEXEC) {
    if (program.ends_with(".py")) return fmt::format("start its interpreter: -- python3 {}", program);
    return fmt::format("make it executable: chmod +x {}", program);
  }
  if (error != ENOENT) return "see whether it starts without roofline";
  if (exists && is_path) return "the interpreter that its first line names, or its loader, does not exist";
  if (exists) return fmt::format("for the file in this folder: -- ./{}", program);
  return is_path ? "check the path" : "no folder of $PATH has it; check the name, or pass its path";
}

std::uint64_t monotonic_now() { return clock_ns(CLOCK_MONOTONIC); }

/// Tells when the windows of the recording processes are over, from their growing spools.
class Windows {
 public:
  bool over(const fs::path& spool) {
    Reading& reading = readings_[spool];
    std::ifstream in(spool, std::ios::binary);
    spool::Header header = {};
    while (!reading.over && in.seekg(reading.offset) && in.read(reinterpret_cast<char*>(&header), sizeof header) &&
           header.size >= sizeof header) {
      spool::Note note = {};
      if (header.type == spool::Type::note && !in.read(reinterpret_cast<char*>(&note), sizeof note)) break;
      reading.over = note.code == spool::NoteCode::window_ended;
      reading.offset += header.size;
    }
    return reading.over;
  }

 private:
  struct Reading {
    std::streamoff offset = sizeof spool::kMagic;
    bool over = false;
  };
  std::map<fs::path, Reading> readings_;
};

/// The running program.
class Program {
 public:
  explicit Program(const ProgramOptions& options) : options_(options) {
    adopt_orphans();  // processes that outlive their parents can be waited for
    run_.start = monotonic_now();
    start();
    if (options.sample_host) sampler_.emplace(child_.pid(), HostSamplerOptions{.code_rate_hz = options.code_rate_hz});
  }

  ProgramRun wait() {
    while (!ended()) {
      pass_signals_on();
      if (!run_.stopped && (is_overdue() || (options_.has_window && windows_are_over()))) {
        run_.stopped = true;
        ask_to_end(SIGTERM);
      }
      usleep(kPoll);
    }
    run_.end = monotonic_now();
    if (sampler_) {
      run_.host = sampler_->stop();
      const ProcessUsage now = usage_of_children();
      run_.host->usage = {now.user_s - usage_before_.user_s, now.system_s - usage_before_.system_s,
                          now.page_faults - usage_before_.page_faults, now.sleeps - usage_before_.sleeps};
    }
    return std::move(run_);
  }

 private:
  void start() try {
    const Descriptor nowhere(options_.quiet ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : -1);
    const int output = options_.output_to_stderr ? STDERR_FILENO : -1;
    child_ = Process::execute({.argv = options_.command,
                               .environment = environment_with(options_.environment),
                               .standard_input = nowhere.get(),
                               .standard_output = options_.quiet ? nowhere.get() : output,
                               .standard_error = nowhere.get()});
  } catch (const std::system_error& error) {
    const std::string& program = options_.command.front();
    throw UsageError(fmt::format("can't start '{}': {}", program, error.code().message()),
                     how_to_start(program, error.code().value()));
  }

  /// True if the program has ended, and with it all of its processes that record.
  bool ended() {
    if (!child_ended_) {
      if (const std::optional<int> status = child_.reap({})) {
        child_ended_ = true;
        if (WIFEXITED(*status)) run_.exit_status = WEXITSTATUS(*status);
        if (WIFSIGNALED(*status)) run_.signal = WTERMSIG(*status);
      }
    }
    reap_orphans(child_);
    return child_ended_ && (killed_ || recording().empty());
  }

  /// Processes that have a spool and live, with their spools.
  std::map<pid_t, fs::path> recording() {
    std::map<pid_t, fs::path> processes;
    if (options_.spools.empty()) return processes;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(options_.spools, gone)) {
      if (entry.path().extension() != spool::kExtension) continue;
      const auto [process, is_new] = recorders_.try_emplace(entry.path());
      if (is_new) process->second = recorder_of(entry.path());
      if (process->second && exists(*process->second)) processes[process->second->pid] = entry.path();
    }
    return processes;
  }

  static std::optional<ProcessIdentity> recorder_of(const fs::path& spool) {
    const std::string name = spool.filename().string();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    return pid > 0 ? find_descendant(pid) : std::nullopt;
  }

  bool windows_are_over() {
    const std::map<pid_t, fs::path> processes = recording();
    return !processes.empty() && std::all_of(processes.begin(), processes.end(),
                                             [this](const auto& process) { return windows_.over(process.second); });
  }

  bool is_overdue() const {
    if (!options_.stop_after_s) return false;
    return static_cast<double>(monotonic_now() - run_.start) >
           *options_.stop_after_s * static_cast<double>(kNsPerSecond);
  }

  /// Ctrl-C at the terminal has reached the program by itself; another signal is ours to pass on. What has not ended
  /// after a while, or at the third time, is killed.
  void pass_signals_on() {
    const int asked = interrupts();
    if (asked > passed_on_) {
      run_.interrupted = true;
      const Interrupt last = last_interrupt();
      ask_to_end(last.by_terminal ? 0 : last.signal);
    }
    passed_on_ = asked;
    constexpr int kPatience = 2;
    if (asked_at_ != 0 && !killed_ && (asked > kPatience || monotonic_now() > asked_at_ + kGrace)) {
      killed_ = true;
      ask_to_end(SIGKILL);
    }
  }

  void ask_to_end(int signal) {
    if (asked_at_ == 0) asked_at_ = monotonic_now();
    if (signal == 0) return;
    if (!child_ended_) child_.signal(signal);
    for (const auto& [pid, spool] : recording()) {
      if (pid != child_.pid()) send_signal(*recorders_.at(spool), signal);
    }
  }

  const ProgramOptions& options_;
  ProgramRun run_;
  ProcessUsage usage_before_ = usage_of_children();
  Windows windows_;
  std::map<fs::path, std::optional<ProcessIdentity>> recorders_;  ///< as they were when their spools were first seen
  Process child_;
  std::optional<HostSampler> sampler_;
  bool child_ended_ = false;
  bool killed_ = false;
  int passed_on_ = 0;
  std::uint64_t asked_at_ = 0;
};

}  // namespace

ProcessUsage usage_of_children() {
  rusage usage = {};
  if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return {};
  return {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), static_cast<double>(usage.ru_minflt),
          static_cast<double>(usage.ru_nvcsw)};
}

ProgramRun run_program(const ProgramOptions& options) { return Program(options).wait(); }

}  // namespace roofline
