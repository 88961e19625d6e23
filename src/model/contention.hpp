// Other load during a measurement, as far as the system reports it, and when it is significant; and, where the
// system reports nothing, the speed of the machine itself. Pure arithmetic; device/cpu/system_reading.hpp takes the
// readings, analyze/reference_probe.hpp the reference rates.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// Sums over the observed time; several can be added. CPU time is that of the CPUs of the measurement's threads and
/// of their SMT siblings. A GPU has no CPUs, and reports the time in which other processes used its SMs, and of
/// thermal throttling.
struct Contention {
  /// Lost time of one CPU. The system counts ticks, so `others_s` over a short time may be too high, or negative.
  struct CpuLoss {
    double others_s = 0;
    double stolen_s = 0;
  };

  double wall_s = 0;             /// observed time; 0: not observed
  std::int64_t cpus = 0;         ///< logical CPUs that were watched; 0: a GPU was
  std::int64_t cores = 0;        ///< physical cores under them
  double others_s = 0;           ///< CPU time of other programs
  double stolen_s = 0;           ///< CPU time that the hypervisor gave to others
  double worst_cpu_s = 0;        ///< the most that one CPU lost to both
  double waited_s = 0;           /// the longest time that any thread was runnable without a CPU
  double throttled_s = 0;        /// CPU time throttled by the cgroup quota; on a GPU by temperature
  std::int64_t preemptions = 0;  ///< involuntary context switches of all threads

  /// By CPU number, as read; not stored in files. Sums over CPUs are derived from it, because ticks counted too high in
  /// one reading are too low in the next.
  std::map<int, CpuLoss> of_cpu = {};

  Contention& operator+=(const Contention& more);
  /// Sets the three figures that follow from `of_cpu`.
  void sum_cpus();
};

/// True if the load is too high for the result of an idle machine: 5 % of the CPU time lost to others, 10 % of one
/// CPU's, 5 % of a thread's time waiting for a CPU, or 1 % throttled. Less than 30 ms of CPU time is never significant,
/// because the system counts ticks of 10 ms, nor is less than 5 ms per CPU of a sum.
bool is_significant(const Contention& seen);

/// The largest of the shares that is_significant() considers: of the CPU time, of one CPU's, of a thread's.
double share_lost(const Contention& seen);

/// "other programs used 1.1 of 2 cores", "23 % steal time (hypervisor)"; several joined by "and". `most` precedes
/// each figure ("up to "). Empty if nothing was observed.
std::string describe(const Contention& seen, std::string_view most = {});

/// Rates of two reference probes directly before and after a row, as shares of their roofs: the lower of both
/// times.
struct ReferenceRates {
  double copy = 1;        ///< fraction of main memory's copy roof
  double arithmetic = 1;  /// fraction of the fp32 roof, at the current core clock
};

/// Below this reference rate a row's time says more about the machine than about the kernel. Roofs of a shared
/// machine are reached in its idle moments, and 0.7 is an ordinary rate.
inline constexpr double kSlowReference = 0.6;

struct NamedContention {
  std::string name;  ///< name of the row or ceiling
  Contention seen;
};

struct NamedReferenceRate {
  std::string name;  ///< name of the row
  double rate = 1;   ///< fraction of the roof
};

/// "3 rows were measured while other programs used up to 1.1 of 2 cores: a, b and c"; empty for none. `what` is the
/// singular: "row".
std::string summarise(std::span<const NamedContention> all, std::string_view what);
/// "2 rows were measured while the reference probes reached as little as 0.45 of their roofs; cause unknown (…): a
/// and b"; empty for none.
std::string summarise(std::span<const NamedReferenceRate> all);

}  // namespace roofline
