// What is known of a loop of a CPU program, and of the emulated run that counted it. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ceiling.hpp"

namespace roofline {

/// A row of `roofline profile --emulate`: a loop, or the code of a function outside its loops. Counts are in the row's
/// Counters, by the ids of docs/counters.md.
struct CpuLoop {
  bool loop = true;           ///< false: code of a function outside its loops
  std::string called_from;    ///< line of the program that calls this library code most; empty: not known
  std::string remark;         ///< why the compiler did not vectorise it, in its words; empty: not known
  double thread_s = 0;        ///< native time in user code, all threads together
  Interval thread_ci95 = {};  ///< of thread_s: binomial, thread by thread
  double share = 0;           ///< of the time of all threads in user code
  std::int64_t threads = 0;   ///< threads with samples in it
  double together = 0;        ///< threads that were in it at the same time, on average
  std::int64_t at_once = 0;   ///< threads of the program that ran at the same time, at most
  double busiest = 0;         ///< time of the thread with the most over the mean of its threads; 0: not known
  double entries = 0;         ///< executions of its first instruction from outside
  double iterations = 0;      ///< backward jumps
};

/// Code that was counted under emulation and has no native time, most FLOPs first.
struct TimelessCode {
  std::string name;
  double flops_share = 0;  ///< of all FLOPs
  double bytes_share = 0;  ///< of all bytes loaded and stored
};

/// The emulated run, and how its counts fit the native run's times.
struct EmulatedRun {
  bool complete = false;
  std::string ended;         ///< why the counts end early; empty when complete
  std::string isa;           ///< highest vector extension offered: "avx2"
  double seconds = 0;        ///< wall time; 0: not known
  double rate_hz = 0;        ///< samples per second of native user code, per thread
  std::string why_no_times;  ///< empty where there are
  double cpu_s = 0;          ///< native time in user code, all threads together
  double joined_s = 0;       ///< of that, in code with counts
  double folded_s = 0;       ///< of that, in loops below the least share of a row
  std::vector<TimelessCode> timeless = {};
};

}  // namespace roofline
