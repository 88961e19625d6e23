// Linux's counters and sensors of the whole machine, for `roofline monitor`. Reads files, and one chain of
// additions for the clock where no file has it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/cpu/perf_counters.hpp"
#include "device/cpu/power_sensors.hpp"

namespace roofline {

/// Everything at one moment; times and bytes are sums so far, of which only differences mean anything. What is absent
/// has its reason in `absent`, by the name of its field.
struct HostReading {
  double time_s = 0;  ///< on a clock that never goes back
  int cpus = 0;
  double busy_s = 0;       ///< of all CPUs together, in programs and in the kernel on their behalf
  double stolen_s = 0;     ///< wanted, and given to others by the hypervisor
  double throttled_s = 0;  ///< of this process's control group: stopped by its quota
  std::optional<double> core_hz, max_core_hz;
  std::optional<double> energy_j, temperature_c;
  std::optional<double> memory_used_bytes, memory_total_bytes;
  std::optional<double> dram_read_bytes, dram_write_bytes;
  /// For how long some task has waited for it (pressure stall information).
  std::optional<double> cpu_pressure_s, memory_pressure_s, io_pressure_s;
  std::optional<double> load;  ///< tasks that run or want to, over the last minute
  std::map<std::string, std::string, std::less<>> absent;
};

class HostSensors {
 public:
  /// `root` is empty but in tests.
  explicit HostSensors(std::string root = {});
  HostReading read();

 private:
  std::string root_;
  PowerSensors power_;
  std::string power_absent_;
  std::unique_ptr<MemoryTraffic> traffic_;
  std::string traffic_absent_;
};

}  // namespace roofline
