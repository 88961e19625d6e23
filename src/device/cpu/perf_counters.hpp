// Hardware events of a CPU through perf_event_open, over all threads of this process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/counter_reader.hpp"

namespace roofline {

/// One event of the kernel's: perf_event_attr's type and config.
struct PerfEvent {
  std::string id;  ///< key of Counters::values; several events may add up to one
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  double scale = 1;         ///< from counts to the id's unit
  bool per_socket = false;  ///< a memory controller's: counted for the whole socket, needs the right to all processes
};

/// Events of this CPU: cycles, instructions and last-level misses on all, floating-point operations if the vendor's
/// events are known (Intel since Skylake, AMD Zen), bytes of the memory controllers if /sys/bus/event_source lists
/// them.
std::vector<PerfEvent> perf_events(CounterSet set);

/// Opens them. Those that can't be had are reported in Counters::missing. Throws Error when none can, with the reason
/// and what would allow it.
std::unique_ptr<CounterReader> make_perf_reader(std::span<const PerfEvent> events);

/// What the memory controllers have moved since it was made, over all sockets and programs.
class MemoryTraffic {
 public:
  /// Throws Error with the reason if the bytes can't be counted.
  MemoryTraffic();
  ~MemoryTraffic();
  MemoryTraffic(const MemoryTraffic&) = delete;
  MemoryTraffic& operator=(const MemoryTraffic&) = delete;

  struct Bytes {
    double read = 0;
    double written = 0;
  };
  /// std::nullopt until all counters have run.
  std::optional<Bytes> bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Why perf_event_open failed with that errno, in words; `paranoid` is the kernel's setting.
std::string perf_refusal(int error, int paranoid);

}  // namespace roofline
