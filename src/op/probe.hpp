// The contract of a calibration probe: a kernel that measures one ceiling. A probe is timed by the same
// sampler as any op, so that the two can be divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "measure/sampler.hpp"
#include "model/ceiling.hpp"
#include "model/machine.hpp"
#include "model/work.hpp"

namespace roofline {

class Device;

/// Where an instruction was looked for, and how often it stands there.
struct CodeSearch {
  std::string instruction;   ///< as the disassembler writes it: "HGMMA", "LDG.E.128"
  std::string where;         ///< "wgmma_kernel<…> in sm_90a"; or why the code could not be looked at
  std::optional<int> found;  ///< nothing when the code could not be looked at
};

/// One way to run a probe, ready to be timed. Holds its own buffers.
struct ProbeCase {
  std::string variant;           ///< "10 chains, avx2, 2 threads"
  double amount = 0;             ///< FLOPs, bytes, launches or accesses of one launch of `run`: what is counted
  Work work;                     ///< of one launch: the audit compares the probe's own intensity with the ridge
  double working_set_bytes = 0;  ///< bytes that launches touch before they touch any again; 0 where they touch none
  /// Of the caches that the working set must be 4 x as large as; NaN: those that the device has before the level.
  /// 0 for a probe whose loads go past them.
  double nearer_cache_bytes = std::numeric_limits<double>::quiet_NaN();
  double x = 0;                    ///< of a sweep: bytes of the working set, threads, or bytes of the message
  std::int64_t ranks = 0;          ///< of a sweep over messages: that work together
  std::string origin = {};         ///< where it differs from the probe's: "library GEMM"
  std::string instruction = {};    ///< that does the work: "HGMMA 64x256x16"
  std::string below_peak = {};     ///< why this path can't reach the chip's full rate; empty where it can
  std::function<void()> run = {};  ///< enqueues (GPU) or runs (CPU) one launch
  /// Times that many launches in the probe's own way instead of the device's timer. May be empty; the stream
  /// launch floor needs it, for a device timer replays graphs.
  std::function<Reading(std::int64_t launches)> batch = {};
  /// Checks what the last run computed; the reason why it is wrong, or nothing.
  std::function<std::optional<std::string>()> verify = {};
  /// A sample of the operands' bytes, some KiB: the audit looks whether they are random. Compute probes whose
  /// power depends on the data must have it; may be empty where there are no operands in memory.
  std::function<std::vector<std::byte>()> operands = {};
  /// Looks for the instruction in the machine code that runs. May be empty (CPU).
  std::function<CodeSearch()> code = {};
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
  Role role = Role::roof;
  std::string origin = "probe";  ///< or "library GEMM"
  /// Set for a sweep: every variant is a point of it, and there is no winner.
  std::optional<SweepAxis> sweep = {};
  /// Measured after settling too, for --sustain seconds: compute roofs always are, others where energy is wanted.
  bool sustained = false;
  /// The share of `limit` that an honest probe reaches on any device of its kind; below it the ceiling is suspect
  /// (chains too short, a wrong specification). 0 where the limit is itself an assumption.
  double least_of_limit = 0;
  /// Rest before every burst sample, in seconds, for what draws so much power that the limiter would lower the
  /// clock while it is sampled; such a sample is one launch, or as few as last 100 µs. 0: no rest.
  double rest_s = 0;
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
