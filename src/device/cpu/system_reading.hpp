// Linux's counts for this process's threads and their CPUs; the difference across a measurement is the contention
// (model/contention.hpp). Needs no privileges; values that a system does not report count as 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/contention.hpp"

namespace roofline {

/// Since the system started, in ticks of 10 ms mostly.
struct CpuTimes {
  double busy_s = 0;    ///< in programs and in the kernel on their behalf; no interrupts
  double stolen_s = 0;  ///< wanted, and given to others by the hypervisor
};

/// Since the thread started, to the nanosecond.
struct ThreadTimes {
  int cpu = 0;                   ///< that it ran on last
  double ran_s = 0;              ///< on a CPU
  double waited_s = 0;           ///< ready to run, and not running
  std::int64_t preemptions = 0;  ///< involuntary context switches
};

struct SystemReading {
  std::map<int, CpuTimes> cpus;        ///< by their number
  std::map<int, ThreadTimes> threads;  ///< of this process, by their id
  double own_s = 0;                    ///< CPU time of this process, with ended threads and awaited children
  double throttled_s = 0;              ///< of the control group, all its CPUs together
};

/// Reads `root`/proc/stat, `root`/proc/self/task and the control group's cpu.stat; `root` is empty but in tests. Takes
/// some 50 us and 20 us a thread.
SystemReading read_system(const std::string& root = {});

/// Contention between two readings `wall_s` apart, on these logical CPUs of `cores` physical cores. CPU time of this
/// process is not counted as that of other programs: the time of threads that moved to another CPU, of threads that
/// have ended and of children is deducted from the rest of the CPUs' busy time. The result is a lower bound.
Contention contention_between(const SystemReading& before, const SystemReading& after, double wall_s,
                              const std::vector<int>& cpus, int cores);

}  // namespace roofline
