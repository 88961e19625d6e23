#include "profile/running_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "host/clock.hpp"
#include "host/descriptor.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "sample/host_sampler.hpp"
#include "sample/proc_files.hpp"
#include "sample/proc_text.hpp"

namespace roofline {
namespace {

constexpr useconds_t kPoll = 20'000;

/// Its start, in clock ticks since boot; std::nullopt if it does not run or has ended.
std::optional<std::uint64_t> start_of(pid_t pid) {
  const std::optional<ThreadStat> stat = parse_thread_stat(read_proc(fmt::format("/proc/{}/stat", pid)));
  const bool runs = stat && stat->state != 'Z' && stat->state != 'X';
  return runs ? std::optional(stat->start) : std::nullopt;
}

/// Throws where it cannot be sampled; returns its start.
std::uint64_t require_process(pid_t pid) {
  const std::optional<std::uint64_t> started = start_of(pid);
  if (!started || pid == ::getpid()) {
    throw UsageError(fmt::format("--pid {}: no such process", pid),
                     "pass the ID of a running process, as ps prints it");
  }
  // The sampler reads the memory of interpreters, which the system permits or not as for a debugger.
  const Descriptor memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.get() < 0) {
    throw PermissionError(fmt::format("--pid {}: no permission to read the process", pid),
                          "run as its user; where /proc/sys/kernel/yama/ptrace_scope is not 0, as root");
  }
  return *started;
}

/// The words of /proc/PID/cmdline.
std::vector<std::string> command_of_process(pid_t pid) {
  const std::string text = read_proc(fmt::format("/proc/{}/cmdline", pid));
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.empty()) words.push_back(fmt::format("process {}", pid));
  return words;
}

}  // namespace

RunningProcess sample_running_process(pid_t pid, std::optional<double> stop_after_s,
                                      const std::function<void()>& started) {
  const std::uint64_t process = require_process(pid);
  RunningProcess found = {.command = command_of_process(pid),
                          .folder = read_proc_link(fmt::format("/proc/{}/cwd", pid)),
                          .uses_cuda = false,
                          .run = {}};
  found.run.start = clock_ns(CLOCK_MONOTONIC);
  HostSampler sampler(pid);
  started();
  const auto is_over = [&] {
    const auto seconds = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - found.run.start) * 1e-9;
    return interrupted() || (stop_after_s && seconds > *stop_after_s) || start_of(pid) != process;
  };
  while (!is_over()) ::usleep(kPoll);
  found.uses_cuda = read_proc(fmt::format("/proc/{}/maps", pid)).find("/libcuda.so") != std::string::npos;
  found.run.end = clock_ns(CLOCK_MONOTONIC);
  found.run.stopped = true;
  found.run.host = sampler.stop();
  return found;
}

}  // namespace roofline
