// Counted traffic of a launch through the memory levels of a GPU.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "report/report.hpp"

namespace roofline {

/// Bytes that cross one level in a launch. NaN: unknown.
struct MemoryFlow {
  Level level = Level::hbm;
  double bytes = 0;
  double read = std::numeric_limits<double>::quiet_NaN(), write = read;  ///< parts of the bytes; main memory only
  double rate = 0;                                                       ///< bytes per second of the launch's time
  double roof = read;      ///< measured roof for this mix of reads and writes
  std::string ceiling;     ///< name of that roof; empty without one
  double hit_rate = read;  ///< fraction of the requests reaching the level that it serves
  double sectors = read;   ///< 32-byte sectors per request of a warp; L1 only
  double excess = read;    ///< moved over requested bytes; L1 and shared memory

  double share() const { return rate / roof; }  ///< fraction of the roof
};

/// From the SMs outwards: shared memory, L1, L2, main memory. Omits levels without traffic or counts. Empty without a
/// time or counters, and for CPUs.
std::vector<MemoryFlow> memory_flows(const Point& point, const Machine& machine);

/// "32 sectors per request, 8× the requested bytes", "hit rate 43 %"; may be empty.
std::string remark_on(const MemoryFlow& flow);

}  // namespace roofline
