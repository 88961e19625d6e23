// What a launch moves through the levels of a GPU's memory, as it was counted.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "model/machine.hpp"
#include "report/report.hpp"

namespace roofline {

/// The bytes that cross one level in a launch. NaN of a figure that is not known.
struct MemoryFlow {
  Level level = Level::hbm;
  double bytes = 0;
  double read = std::numeric_limits<double>::quiet_NaN(), write = read;  ///< their parts; of main memory only
  double rate = 0;                                                       ///< bytes per second of the launch's time
  double roof = read;                                                    ///< measured; for its mix of reads and writes
  std::string ceiling;                                                   ///< that roof's name; empty without one
  double hit_rate = read;  ///< of the requests that reach the level, those that end there
  double sectors = read;   ///< of 32 bytes, per request of a warp; of L1 only
  double excess = read;    ///< bytes moved over bytes that threads asked for; of L1 and shared memory

  double share() const { return rate / roof; }  ///< of the roof
};

/// From the SMs outwards: shared memory, L1, L2, main memory. Without a level that no byte crossed or that was not
/// counted. Empty without a time or counters, and for CPUs.
std::vector<MemoryFlow> memory_flows(const Point& point, const Machine& machine);

/// "32 sectors per request, 8× the requested bytes", "hit rate 43 %"; empty where nothing is to be said.
std::string remark_on(const MemoryFlow& flow);

}  // namespace roofline
