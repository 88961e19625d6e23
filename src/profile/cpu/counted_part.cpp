#include "profile/cpu/counted_part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

#include "host/clock.hpp"
#include "host/environment.hpp"
#include "host/interrupt.hpp"
#include "host/process.hpp"
#include "model/error.hpp"
#include "sample/elf_file.hpp"
#include "sample/proc_files.hpp"
#include "sample/proc_text.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr double kFewExecutions = 2000;
constexpr double kMostExecutions = 100'000;
constexpr useconds_t kPoll = 1000;
/// Threads wait for each other, natively in other places than under emulation: their user time does not tell work.
constexpr const char* kSeveral = "the program starts threads or processes, so its counted part cannot be timed";

constexpr const char* kNotTraced = "the program does not start under ptrace";
constexpr const char* kOtherWork = "the native run ended before it had executed what was counted: its work differs";

/// User time of a part, or why it is not known.
struct PartTime {
  double user_s = 0;
  std::string why_none;
};

/// The program, stopped before its first instruction, without input and output.
Process start_stopped(const ProgramOptions& program) try {
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Process process = Process::execute({.argv = program.command,
                                      .environment = environment_with(program.environment),
                                      .standard_input = nowhere.get(),
                                      .standard_output = nowhere.get(),
                                      .standard_error = nowhere.get(),
                                      .ends_with_parent = true,
                                      .traced = true});
  int status = 0;
  if (::waitpid(process.pid(), &status, 0) != process.pid() || !WIFSTOPPED(status)) {
    process.abandon();
    throw Error(kNotTraced);
  }
  return process;
} catch (const std::system_error&) {
  throw Error(kNotTraced);
}

/// Where a linked address of the process's program is in its memory.
std::optional<std::uint64_t> loaded_address(pid_t pid, const std::string& program, std::uint64_t address) {
  const std::optional<ElfFile> elf = ElfFile::open(program);
  for (const Mapping& mapping : parse_mappings(read_proc(fmt::format("/proc/{}/maps", pid)))) {
    if (!elf || mapping.path != program) continue;
    if (const auto linked = elf->address_of_offset(mapping.offset)) return address + (mapping.start - *linked);
  }
  return std::nullopt;
}

/// Counts executions of the instruction by the process and its threads.
Descriptor breakpoint(pid_t pid, std::uint64_t address) {
  perf_event_attr attributes = {};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = HW_BREAKPOINT_X;
  attributes.bp_addr = address;
  attributes.bp_len = sizeof(long);
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  const long made = ::syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (made < 0) throw Error(fmt::format("hardware breakpoints are not permitted here ({})", std::strerror(errno)));
  return Descriptor(static_cast<int>(made));
}

std::uint64_t executions(const Descriptor& event) {
  std::uint64_t count = 0;
  return ::read(event.get(), &count, sizeof count) == sizeof count ? count : 0;
}

double end_at_place(Process& process, double before) {
  process.signal(SIGKILL);
  process.reap(kReapTimeout);
  return usage_of_children().user_s - before;
}

/// Ends the process at the place; its user time then.
double user_time_at(Process& process, const Descriptor& event, double wanted, double limit_s) {
  const double before = usage_of_children().user_s;
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  ::ptrace(PTRACE_DETACH, process.pid(), nullptr, nullptr);
  while (static_cast<double>(executions(event)) < wanted) {
    if (process.ended()) throw Error(kOtherWork);
    if (interrupted()) throw Error("interrupted");
    if (static_cast<double>(clock_ns(CLOCK_MONOTONIC) - start) > limit_s * static_cast<double>(kNsPerSecond)) {
      throw Error("the native run took longer than the emulated one");
    }
    ::usleep(kPoll);
  }
  std::error_code hidden;
  const fs::directory_iterator threads(fmt::format("/proc/{}/task", process.pid()), hidden);
  if (!hidden && std::distance(begin(threads), end(threads)) > 1) throw Error(kSeveral);
  return end_at_place(process, before);
}

#if defined(__x86_64__)
constexpr unsigned long kTrap = 0xcc, kByte = 0xff;  // int3

void write_byte(pid_t pid, std::uint64_t address, unsigned long byte) {
  const auto word = static_cast<unsigned long>(::ptrace(PTRACE_PEEKTEXT, pid, address, nullptr));
  ::ptrace(PTRACE_POKETEXT, pid, address, (word & ~kByte) | byte);
}

/// The stop that follows; 0 if the process has ended.
int next_stop(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, __WALL) != pid) {
    if (errno != EINTR || interrupted()) throw Error("interrupted");
  }
  if (!WIFSTOPPED(status)) throw Error(kOtherWork);
  return status;
}

/// Executes the instruction itself, with its trap removed meanwhile.
void step_over(pid_t pid, user_regs_struct& registers, std::uint64_t address, unsigned long first_byte) {
  registers.rip = address;
  ::ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
  write_byte(pid, address, first_byte);
  ::ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr);
  next_stop(pid);
  write_byte(pid, address, kTrap);
}

/// Ends the stopped process at the place by a trap instead of the instruction; its user time then. Loops beside the
/// trap keep their speed, other than with a breakpoint. std::nullopt: not on this architecture.
std::optional<double> user_time_by_trap(Process& process, std::uint64_t address, double wanted) {
  const double before = usage_of_children().user_s;
  const pid_t pid = process.pid();
  ::ptrace(PTRACE_SETOPTIONS, pid, nullptr,
           PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
  const auto first_byte = static_cast<unsigned long>(::ptrace(PTRACE_PEEKTEXT, pid, address, nullptr)) & kByte;
  write_byte(pid, address, kTrap);
  double hits = 0;
  long signal = 0;
  while (true) {
    ::ptrace(PTRACE_CONT, pid, nullptr, signal);
    const int status = next_stop(pid);
    if (status >> 16 != 0) {
      unsigned long started = 0;  // stopped, and of no other tracer
      ::ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &started);
      if (started > 0) ::kill(static_cast<pid_t>(started), SIGKILL);
      throw Error(kSeveral);
    }
    user_regs_struct registers = {};
    ::ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    const bool is_trap = WSTOPSIG(status) == SIGTRAP && registers.rip == address + 1;
    signal = is_trap ? 0 : WSTOPSIG(status);
    if (!is_trap) continue;
    if (++hits >= wanted) return end_at_place(process, before);
    step_over(pid, registers, address, first_byte);
  }
}
#else
std::optional<double> user_time_by_trap(Process&, std::uint64_t, double) { return std::nullopt; }
#endif

/// Runs the program to the place by one of two ways.
template <typename Run>
double time_to(const ProgramOptions& native, const CountedInstructions& counted, PlaceKind kind, const Run& run) {
  Process process = start_stopped(native);
  const std::string program = read_proc_link(fmt::format("/proc/{}/exe", process.pid()));
  const std::optional<LastPlace> place = last_place(counted, program, kind);
  if (!place) throw Error("no instruction of the program tells when the counted part ended");
  const std::optional<std::uint64_t> address = loaded_address(process.pid(), program, place->address);
  if (!address) throw Error("the program's code was not found in its memory");
  return run(process, *address, place->executions);
}

PartTime time_of(const ProgramOptions& native, const CountedInstructions& counted, double limit_s) try {
  if (counted.processes.size() != 1) throw Error("several processes were counted");
  std::optional<double> user_s;
  time_to(native, counted, PlaceKind::any, [&](Process& process, std::uint64_t address, double executions) {
    user_s = user_time_by_trap(process, address, executions);
    return 0.0;
  });
  if (user_s) return {*user_s, {}};
  return {time_to(native, counted, PlaceKind::cold,
                  [&](Process& process, std::uint64_t address, double executions) {
                    return user_time_at(process, breakpoint(process.pid(), address), executions, limit_s);
                  }),
          {}};
} catch (const Error& error) {
  return {0, error.what()};
}

/// Of few executions, the most in the last tenth; else the fewest, for their cost.
bool is_better(const CountedInstruction& one, const CountedInstruction& other) {
  const bool few = one.executions <= kFewExecutions, other_few = other.executions <= kFewExecutions;
  if (few != other_few) return few;
  return few ? one.late > other.late : one.executions < other.executions;
}

}  // namespace

std::optional<LastPlace> last_place(const CountedInstructions& counted, const std::string& module, PlaceKind kind) {
  constexpr std::uint64_t kLine = 64;
  const auto is_of_module = [&](const CountedInstruction& one) {
    return counted.modules[static_cast<std::size_t>(one.module)] == module;
  };
  // A breakpoint in the cache line of a loop makes the loop twice as slow (Zen 5).
  std::set<std::uint64_t> hot;
  for (const CountedInstruction& one : counted.instructions) {
    if (kind == PlaceKind::cold && is_of_module(one) && one.executions > kMostExecutions)
      hot.insert(one.address / kLine);
  }
  const CountedInstruction* best = nullptr;
  for (const CountedInstruction& one : counted.instructions) {
    if (!is_of_module(one) || hot.contains(one.address / kLine)) continue;
    if (one.late <= 0 || one.executions > kMostExecutions || one.repeated > 0) continue;
    if (best == nullptr || is_better(one, *best)) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(LastPlace{best->address, best->executions});
}

void time_counted_part(const ProgramOptions& native, const fs::path& folder, double limit_s) {
  const CountedInstructions counted = read_counts_folder(folder);
  const auto is_cut = [](const CountedProcess& process) { return process.end == CountEnd::limit; };
  if (std::ranges::none_of(counted.processes, is_cut)) return;
  const PartTime time = time_of(native, counted, limit_s);
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!is_counts_file(entry.path())) continue;
    std::ofstream out(entry.path(), std::ios::app);
    out << fmt::format("native\t{:.6f}\t{}\n", time.user_s, time.why_none);
  }
}

std::vector<double> scales_of_part(const CodeSamples& samples, const std::vector<int>& of_code,
                                   const std::vector<bool>& waits, double part_s) {
  if (!(samples.period_s > 0) || !(part_s > 0)) return {};
  std::vector<double> all(waits.size(), 0), part(waits.size(), 0);
  double worked = 0, worked_in_part = 0;
  for (const CodeSample& sample : samples.samples) {
    const auto region = static_cast<std::size_t>(of_code[static_cast<std::size_t>(sample.code)]);
    const bool in_part = worked * samples.period_s < part_s;
    ++all[region];
    if (in_part) ++part[region];
    if (waits[region]) continue;
    ++worked;
    if (in_part) ++worked_in_part;
  }
  if (worked_in_part == 0) return {};
  // A ratio of fewer samples would be off by more than 40 % in one of twenty regions.
  constexpr double kEnough = 25;
  std::vector<double> scales(waits.size(), worked / worked_in_part);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (part[i] >= kEnough) scales[i] = all[i] / part[i];
  }
  return scales;
}

}  // namespace roofline
