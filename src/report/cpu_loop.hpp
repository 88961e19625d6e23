// A loop of a CPU program, and the emulated run that counted it. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ceiling.hpp"

namespace roofline {

/// A row of `roofline profile --emulate`: a loop, or the code of a function outside its loops. Counts are in the row's
/// Counters, by the ids of docs/counters.md.
struct CpuLoop {
  bool loop = true;           ///< false: code of a function outside its loops
  std::string called_from;    ///< line of the program that calls this library code most; empty: unknown
  std::string remark;         ///< the compiler's reason for not vectorising it; empty: unknown
  double thread_s = 0;        ///< native time in user code, summed over threads
  Interval thread_ci95 = {};  ///< of thread_s: binomial, per thread
  double share = 0;           ///< fraction of the user-code time of all threads
  std::int64_t threads = 0;   ///< threads with samples in it
  double together = 0;        ///< average number of threads in it at the same time
  std::int64_t at_once = 0;   ///< maximum number of program threads that ran or waited for a CPU at the same time
  double busiest = 0;         ///< time of the busiest thread over the mean of its threads; 0: unknown
  double entries = 0;         ///< executions of its first instruction from outside
  double iterations = 0;      ///< backward jumps
};

/// Code that was counted under emulation and has no native time, most FLOPs first.
struct TimelessCode {
  std::string name;
  double flops_share = 0;  ///< fraction of all FLOPs
  double bytes_share = 0;  ///< fraction of all loaded and stored bytes
};

/// Work of all code of all processes of an emulated run.
struct EmulatedTotals {
  std::map<Pipe, double> flops = {};
  double read_bytes = 0, write_bytes = 0;  ///< main memory, by the modelled caches
};

/// The emulated run, and how well its counts match the times of the native run.
struct EmulatedRun {
  bool complete = false;
  std::string ended;         ///< why the counts end early; empty if complete
  std::string isa;           ///< highest vector extension offered: "avx2"
  double seconds = 0;        ///< wall time; 0: unknown
  double rate_hz = 0;        ///< samples per second of native user code, per thread
  std::string why_no_times;  ///< empty if there are times
  double counted_s = 0;      ///< native user time of the part that was counted; 0: the whole run, or unknown
  double cpu_s = 0;          ///< native time in user code, summed over threads
  double joined_s = 0;       ///< part of cpu_s in code with counts
  double folded_s = 0;       ///< part of cpu_s in loops too small for a row
  std::vector<TimelessCode> timeless = {};
  std::optional<EmulatedTotals> totals = {};  ///< absent unless complete
};

}  // namespace roofline
