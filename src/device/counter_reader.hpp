// Reads a device's hardware counters around a launch. Implemented by device/cuda and device/cpu. Never used while
// something is timed: counting disturbs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "model/counters.hpp"

namespace roofline {

/// standard: for the roofline and most rules of the diagnosis (four passes at most on GH100). full: also issue
/// statistics and stall reasons.
enum class CounterSet : std::uint8_t { standard, full };
std::string_view to_string(CounterSet set);

class CounterReader {
 public:
  virtual ~CounterReader() = default;

  /// Runs each of `launches` several times (numbered from 0 on) and returns the counts of one run of each, in their
  /// order. Caches are as they are between two launches in a row: each counted run follows an uncounted one. Several at
  /// once cost less than one after another. Throws Error.
  virtual std::vector<Counters> count(const std::vector<LaunchFunction>& launches) = 0;
};

/// How the kernels of a launch are laid out; needs no right to counters. Empty on a CPU. On a GPU `launch` is captured.
std::vector<KernelLaunch> launch_layout(Device& device, const std::function<void()>& launch);

/// The reader of that device's counters. Throws Error with the reason and the remedy if they can't be read.
std::unique_ptr<CounterReader> make_counter_reader(Device& device, CounterSet set);

}  // namespace roofline
