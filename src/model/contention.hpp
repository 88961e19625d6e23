// What else ran on the CPUs of a measurement while it went on, as far as the system tells, and when that is too much;
// and, where the system tells nothing, how fast the machine itself was. Pure arithmetic on sums; who reads them is
// device/cpu/system_reading.hpp, and who measures the pace analyze/reference_probe.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// Sums over the time that was watched; those of several stretches can be added. CPU time is that of the CPUs under the
/// measurement's threads and of their SMT siblings. A GPU has no CPUs, and says for how long others had its SMs and
/// heat its clock.
struct Contention {
  double wall_s = 0;             ///< that was watched; 0: nothing was, and the rest says nothing
  std::int64_t cpus = 0;         ///< logical CPUs that were watched; 0: a GPU was
  std::int64_t cores = 0;        ///< physical cores under them
  double others_s = 0;           ///< CPU time of other programs
  double stolen_s = 0;           ///< CPU time that the hypervisor gave to others
  double worst_cpu_s = 0;        ///< the most that one CPU lost to both
  double waited_s = 0;           ///< that the thread which waited longest was ready to run and had no CPU
  double throttled_s = 0;        ///< CPU time for which the control group's quota had them stopped; a GPU's heat
  std::int64_t preemptions = 0;  ///< involuntary context switches of all threads

  Contention& operator+=(const Contention& more);
};

/// Whether it is too much for a figure to be that of an undisturbed machine: 5 % of the CPU time lost to others, 10 %
/// of one CPU's, 5 % of a thread's time waiting for a CPU, 1 % throttled. Less than 30 ms of CPU time is never too
/// much: the system counts it in ticks of 10 ms.
bool is_significant(const Contention& seen);

/// The largest of the shares that disturbed() looks at: of the CPU time, of one CPU's, of a thread's.
double share_lost(const Contention& seen);

/// "other programs used 1.1 of 2 cores", "the hypervisor took 23 %"; what there was of both and more, joined by "and".
/// `most` stands before each figure ("up to "). Empty when nothing was watched.
std::string describe(const Contention& seen, std::string_view most = {});

/// What the probes of two roofs reached right before and after a row, as shares of these roofs: the slower of both
/// times.
struct ReferenceRates {
  double copy = 1;        ///< of main memory's copy roof
  double arithmetic = 1;  ///< of the fp32 roof, at the core clock that there was
};

/// A time that was taken while the machine left its roof less than this says more of the machine than of the kernel.
/// Roofs of a shared machine are what its quietest moments reach, and 0.7 of that is an ordinary one.
inline constexpr double kSlowReference = 0.6;

struct NamedContention {
  std::string name;  ///< of the row or ceiling
  Contention seen;
};

struct NamedReferenceRate {
  std::string name;  ///< of the row
  double rate = 1;   ///< of its roof
};

/// "3 rows were measured while other programs used up to 1.1 of 2 cores: a, b and c"; empty when there are none. `what`
/// is the singular: "row".
std::string summarise(std::span<const NamedContention> all, std::string_view what);
/// "2 rows were measured while the machine itself ran at as little as 0.45 of its roofs, for which the system gives no
/// reason (a neighbour on the same host?): a and b"; empty when there are none.
std::string summarise(std::span<const NamedReferenceRate> all);

}  // namespace roofline
