// Where the time of a program's threads went: sums of its host samples. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sample/host_samples.hpp"

namespace roofline {

/// Seconds of threads by state, as id_of(ThreadState) names them.
struct HostTimes {
  std::array<double, kThreadStates.size()> seconds = {};

  double& of(ThreadState state) { return seconds.at(static_cast<std::size_t>(state)); }
  double of(ThreadState state) const { return seconds.at(static_cast<std::size_t>(state)); }
  double on_cpu() const { return of(ThreadState::running); }
  double total() const;
  /// All but those on a CPU.
  double off_cpu() const { return total() - on_cpu(); }
  /// The state in which most of the time off the CPU was spent; running where there is none.
  ThreadState main_wait() const;
};

/// Time of a line of the program: of the innermost frame that is the program's own, else of the innermost one.
struct HostLineSum {
  HostFrame place;
  HostTimes times;
};

/// Time of a function by itself (innermost), and on a CPU with what it calls.
struct HostFunctionSum {
  HostFrame place;  ///< without a line
  HostTimes times;
  double inclusive_cpu_s = 0;
};

struct HostThreadSum {
  HostThread thread;
  HostTimes times;
  int hottest_line = -1;  ///< index into `lines`: where most of its time on a CPU was; -1: none
  double hottest_s = 0;   ///< of its time on a CPU
  int longest_wait = -1;  ///< index into `lines`: where most of its time off the CPU was
  double longest_wait_s = 0;
};

struct HostProcessSum {
  std::int64_t pid = 0, parent = 0;
  std::string command;
  std::int64_t threads = 0;
  HostTimes times;
};

/// A stack of one thread in one state.
struct HostStackSum {
  int thread = 0;           ///< index into `threads`
  std::vector<int> frames;  ///< indices into `frames`, the outermost first; empty: not known
  ThreadState state = ThreadState::running;
  double seconds = 0;
};

/// Times in which one thread alone was busy, on a CPU or ready, of a program whose threads work at the same time.
struct HostAlone {
  std::int64_t at_once = 0;  ///< threads that were busy at the same time, at most, in 5 % of the time or more
  double seconds = 0;
  int line = -1;        ///< index into `lines`: where most of it was; -1: none
  double line_s = 0;    ///< of it, in the function of that line
  double others_s = 0;  ///< time of threads in that function while others were busy, too
};

/// All lists have the largest first and are cut at a report's limits; `times` has everything.
struct HostProfile {
  double wall_s = 0;   ///< of the sampled time
  double rate_hz = 0;  ///< measured samples per second of each thread
  double cost_s = 0;   ///< CPU time of sampling
  std::int64_t samples = 0;
  std::string why_none;       ///< empty where there are samples
  std::string why_no_native;  ///< why running threads have no native frames
  HostTimes times;            ///< of all threads
  HostAlone alone;
  ProcessUsage usage;  ///< of its processes
  std::int64_t thread_count = 0, process_count = 0;
  std::vector<HostLineSum> lines;
  std::vector<HostFunctionSum> functions;
  std::vector<HostThreadSum> threads;
  std::vector<HostProcessSum> processes;
  std::vector<HostFrame> frames;
  std::vector<HostStackSum> stacks;
};

/// "train.py:31 load_batch"; without its file where that is not known.
std::string place_text(const HostFrame& frame);

/// How long threads were on a CPU, the line or the wait that took most of the time, and what to do about it.
std::string host_answer(const HostProfile& host);

}  // namespace roofline
