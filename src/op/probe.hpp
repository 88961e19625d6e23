// The interface of a calibration probe: a kernel that measures one ceiling. Probes and ops are timed by the same
// sampler, so that their ratio is meaningful.
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

/// Search for an instruction in machine code: place and count.
struct CodeSearch {
  std::string instruction;   ///< mnemonic of the disassembler: "HGMMA", "LDG.E.128"
  std::string where;         /// "wgmma_kernel<…> in sm_90a"; or why the code could not be inspected
  std::optional<int> found;  /// std::nullopt if the code could not be inspected
};

/// One variant of a probe, ready to be timed. Holds its own buffers.
struct ProbeCase {
  std::string variant;           ///< "10 chains, avx2, 2 threads"
  double amount = 0;             ///< FLOPs, bytes, launches or accesses of one launch of `run`: what is counted
  Work work;                     ///< work of one launch: the audit compares the probe's own intensity with the ridge
  double working_set_bytes = 0;  /// bytes accessed before any is accessed again; 0 if there are none
  /// Capacity of the caches that the working set must exceed 4 x; NaN: those of the device before the level. 0
  /// for a probe whose loads bypass them.
  double nearer_cache_bytes = std::numeric_limits<double>::quiet_NaN();
  double x = 0;                    ///< sweeps: bytes of the working set, threads, or bytes of the message
  std::int64_t ranks = 0;          ///< message sweeps: participating ranks
  std::string origin = {};         ///< if it differs from the probe's: "library GEMM"
  std::string instruction = {};    /// the measured one: "HGMMA 64x256x16"
  std::string below_peak = {};     /// why this path cannot reach the chip's full rate; empty if it can
  std::function<void()> run = {};  ///< enqueues (GPU) or runs (CPU) one launch
  /// Times that many launches itself instead of the device's timer. May be empty; the stream launch floor needs
  /// it, because a device timer replays graphs.
  std::function<Reading(std::int64_t launches)> batch = {};
  /// Checks the result of the last run; returns the reason if it is wrong, std::nullopt otherwise.
  std::function<std::optional<std::string>()> verify = {};
  /// A sample of the operands' bytes, a few KiB, for the audit's randomness check. Required for compute probes
  /// whose power depends on the data; may be empty without operands in memory.
  std::function<std::vector<std::byte>()> operands = {};
  /// The core clock among the probe's own instructions, in Hz: all its threads, read right after each sample. May be
  /// empty: then it is the device's, which is read after them. std::nullopt if it could not be told.
  std::function<std::optional<double>()> clock = {};
  /// Looks for the instruction in the executed machine code. May be empty (CPU).
  std::function<CodeSearch()> code = {};
};

/// Parameters of a case.
struct ProbeRequest {
  bool quick = false;  ///< fewer variants
  double scale = 1;    ///< work multiplier: the audit doubles it and expects the time to double
};

struct Probe {
  std::string name;  ///< name of the ceiling: "dram.copy", "fp32"
  DeviceKind device = DeviceKind::cpu;
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Level> level = {};
  std::optional<Pattern> pattern = {};
  std::optional<Pipe> pipe = {};
  Role role = Role::roof;
  std::string origin = "probe";  ///< or "library GEMM"
  /// Set for a sweep: every variant is a point, and none is selected.
  std::optional<SweepAxis> sweep = {};
  /// Sweeps: true if other probes' working sets on this device depend on the result, so that it is measured first. May
  /// be empty: false.
  std::function<bool(const Device&)> comes_first = {};
  /// Also measured after a warm-up for --sustain seconds: compute roofs always are, others if their energy is
  /// needed.
  bool sustained = false;
  /// The share of `limit` that a correct probe reaches on any device of its kind; below it the ceiling is suspect
  /// (too short chains, a wrong specification). 0 if the limit itself is an assumption.
  double least_of_limit = 0;
  /// Pause before every burst sample, in seconds, for probes whose power would make the limiter lower the clock
  /// during sampling; a sample is then one launch, or as few as last 100 µs. 0: no pause.
  double rest_s = 0;
  /// Sets of buffers of which the fastest counts: the rate of an L2 in two parts depends on the physical pages that the
  /// buffers get (7.9 to 8.2 TB/s of copies in nine allocations on an H200).
  int placements = 1;
  /// True if doubling `scale` doubles the work of one launch with everything else equal, for the audit.
  bool scalable = true;
  /// Why this device cannot be measured this way; std::nullopt if it can. May be empty.
  std::function<std::optional<std::string>(const Device&)> unsupported = {};
  /// Variants to try; each is created, timed briefly and destroyed before the next, and the best one is sampled fully.
  /// Called with the index of the variant; std::nullopt past the last.
  std::function<std::optional<ProbeCase>(Device&, const ProbeRequest&, int variant)> make = {};
  /// The maximum rate of the hardware at that core clock (Hz), with its formula. May be empty.
  std::function<std::optional<Limit>(const Device&, std::optional<double> core_hz)> limit = {};
};

}  // namespace roofline
