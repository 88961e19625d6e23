// The contract of a calibration probe: a kernel that measures one ceiling. A probe is timed by the same
// sampler as any op, so that the two can be divided.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/sampler.hpp"
#include "model/ceiling.hpp"
#include "model/work.hpp"

namespace roofline {

class Device;

/// One way to run a probe, ready to be timed. Holds its own buffers.
struct ProbeCase {
  std::string variant;             ///< "10 chains, avx2, 2 threads"
  double amount = 0;               ///< FLOPs, bytes or launches of one launch of `run`, by which the ceiling is counted
  Work work;                       ///< of one launch: the audit compares the probe's own intensity with the ridge
  double working_set_bytes = 0;    ///< bytes that one launch touches; 0 where it touches none
  std::function<void()> run = {};  ///< enqueues (GPU) or runs (CPU) one launch
  /// Times that many launches in the probe's own way instead of the device's timer. May be empty; the stream
  /// launch floor needs it, for a device timer replays graphs.
  std::function<Reading(std::int64_t launches)> batch = {};
  /// Checks what the last run computed; the reason why it is wrong, or nothing.
  std::function<std::optional<std::string>()> verify = {};
};

/// How a case is made.
struct ProbeRequest {
  bool quick = false;  ///< fewer variants
  double scale = 1;    ///< work multiplier: the audit doubles it and expects the time to double
};

struct Probe {
  std::string name;  ///< of the ceiling: "dram.copy", "fp32"
  DeviceKind device = DeviceKind::cpu;
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Level> level = {};
  std::optional<Pattern> pattern = {};
  std::optional<Pipe> pipe = {};
  std::string origin = "probe";  ///< or "library GEMM"
  /// Draws so much power that the clock falls within half a second: settle and sample it shortly, for what
  /// comes later is no burst any more.
  bool power_hungry = false;
  /// Whether doubling `scale` doubles the work of one launch with everything else alike: the audit's test.
  bool scalable = true;
  /// Why this device can't be measured so, or nothing. May be empty.
  std::function<std::optional<std::string>(const Device&)> unsupported = {};
  /// Variants to try; each is made, timed shortly and dropped before the next, and the best one is
  /// sampled in full. Called with the index of the variant; nothing past the last.
  std::function<std::optional<ProbeCase>(Device&, const ProbeRequest&, int variant)> make = {};
  /// The most that the hardware could do at that core clock (Hz), with its formula. May be empty.
  std::function<std::optional<Limit>(const Device&, std::optional<double> core_hz)> limit = {};
};

}  // namespace roofline
