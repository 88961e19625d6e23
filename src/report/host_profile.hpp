// Sums over the host samples of a program. Plain data.
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
  /// Seconds in all states except running.
  double off_cpu() const { return total() - on_cpu(); }
  /// The wait state with the most time; running if there was no wait.
  ThreadState main_wait() const;
};

/// Time of a program line: the innermost frame in the program's own code, else the innermost frame.
struct HostLineSum {
  HostFrame place;
  HostTimes times;
  std::string source;  ///< text of the line, of OpenMP code with the directive above it; empty: unknown
};

/// Self time of a function, and its CPU time including callees.
struct HostFunctionSum {
  HostFrame place;  ///< function only, without a line
  HostTimes times;
  double inclusive_cpu_s = 0;
};

struct HostThreadSum {
  HostThread thread;
  HostTimes times;
  int hottest_line = -1;  ///< index into `lines`: line with the most CPU time; -1: none
  double hottest_s = 0;   ///< CPU time of that line
  int longest_wait = -1;  ///< index into `lines`: line with the most waiting time; -1: none
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
  std::vector<int> frames;  ///< indices into `frames`, outermost first; empty: unknown
  ThreadState state = ThreadState::running;
  double seconds = 0;
};

/// Periods in which only one thread of a multi-threaded program was busy (on a CPU or runnable).
struct HostAlone {
  std::int64_t at_once = 0;  ///< maximum number of busy threads in at least 5 % of the time
  double seconds = 0;
  int line = -1;        ///< index into `lines`: line with most of these periods; -1: none
  double line_s = 0;    ///< seconds of these periods in that line's function
  double others_s = 0;  ///< thread time in that function while other threads were busy
};

/// Times when no thread was running or runnable, by what the thread that ran next waited for.
struct HostIdle {
  double seconds = 0;
  ThreadState state = ThreadState::other;  ///< the wait with the largest share
  double state_s = 0;
  int line = -1;  ///< index into `lines`: of most of that wait; -1: none
};

/// Instructions of one kind in a loop of the program, and the thread time of samples at or right behind them.
struct HostSlowCode {
  /// "division", "root", "integer_division", "conversion", "reload", "probe", "gather", "linked"
  std::string kind;
  HostFrame place;                 ///< line of the instruction with the most samples
  double seconds = 0, loop_s = 0;  ///< thread time in user code: at these instructions, and of their loop
  bool doubles = false;            ///< in double precision
  bool converted = false;          ///< the loop converts single to double precision and back
  bool invariant = false;          ///< its divisors are the same in each iteration
};

/// All lists are sorted, largest first, and cut at the report's limits; `times` covers everything.
struct HostProfile {
  double wall_s = 0;   ///< sampled wall time
  double rate_hz = 0;  ///< measured samples per second and thread
  double cost_s = 0;   ///< CPU time of sampling
  std::int64_t samples = 0;
  std::string why_none;       ///< empty if there are samples
  std::string why_no_native;  ///< why running threads have no native frames
  HostTimes times;            ///< all threads
  HostAlone alone;
  HostIdle idle;
  ProcessUsage usage;  ///< of its processes
  std::int64_t thread_count = 0, process_count = 0;
  std::vector<HostLineSum> lines;
  std::vector<HostFunctionSum> functions;
  std::vector<HostThreadSum> threads;
  std::vector<HostProcessSum> processes;
  std::vector<HostFrame> frames;
  std::vector<HostStackSum> stacks;
  std::vector<HostSlowCode> slow_code;
};

/// "train.py:31 load_batch"; without the file if unknown.
std::string place_text(const HostFrame& frame);

/// Sampled time of the process that lives longest, of those that the program's other processes started; 0: none.
double longest_child_s(const HostProfile& host);

/// CPU time of the threads, the line or wait with the most time, and what to do about it.
std::string host_answer(const HostProfile& host);

}  // namespace roofline
