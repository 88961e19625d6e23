// A machine: one device's identity and its measured ceilings. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/attribute.hpp"
#include "model/ceiling.hpp"
#include "model/names.hpp"
#include "model/work.hpp"

namespace roofline {

/// One cache or scratchpad level of a device.
struct CacheInfo {
  Level level = Level::l1;
  double bytes = 0;            ///< bytes of one instance
  std::int64_t instances = 1;  ///< how many of them the device has in use
};

/// A device. `identity` names its calibration file: equal for the same device with the same threads, and different
/// for any other.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  std::string name;        ///< "NVIDIA H200", "AMD EPYC 7763"
  std::string identity;    ///< lower-case letters, digits and '-'
  std::int64_t units = 0;  ///< SMs on a GPU, worker threads on a CPU
  double memory_bytes = 0;
  std::vector<CacheInfo> caches;
  std::optional<double> max_core_hz;
  std::optional<double> memory_hz;
  std::string driver;                     ///< driver version; empty on a CPU
  std::string isa;                        ///< "avx2", "sm_90"
  std::optional<double> huge_page_share;  /// fraction of a large buffer backed by huge pages; CPU only
  std::vector<Attribute> attributes;
};

/// A ceiling that could not be measured, and why.
struct Unmeasured {
  std::string name;
  std::string reason;
  bool no_time = false;  ///< the time of the calibration ended before; not part of files

  bool cancelled() const { return reason == kCancelled; }
  static constexpr const char* kCancelled = "cancelled";
  static constexpr const char* kSustained = " (sustained)";  ///< ends the name of a ceiling that lacks this regime only
};

/// The varied quantity of a sweep: bytes of the working set, worker threads, or message bytes of a collective.
enum class SweepAxis : std::uint8_t { working_set, threads, message };
std::string_view to_string(SweepAxis axis);
std::optional<SweepAxis> parse_sweep_axis(std::string_view text);

struct SweepPoint {
  double x = 0;      ///< bytes or threads
  double value = 0;  ///< byte/s
  Interval ci95;
  std::int64_t ranks = 0;  ///< message only: that worked together
};

/// The time of a message: latency_s + bytes / rate, fitted to the points of a sweep.
struct LatencyLine {
  std::int64_t ranks = 0;  ///< number of ranks of the fitted points
  double latency_s = 0;
  Interval latency_ci95;
  double rate = 0;  ///< byte/s
  Interval rate_ci95;
  double misfit = 0;  ///< the largest |measured / line - 1| of a point
};

/// A part of a sweep with constant rate: one level of the memory hierarchy.
struct Plateau {
  double from = 0;  ///< x of its first and last point
  double to = 0;
  double value = 0;  ///< median rate of its points
};

/// A rate as a function of one quantity: bandwidth against working set, or against threads.
struct Sweep {
  std::string name;  ///< "sweep.read", "scaling.dram.read"
  SweepAxis axis = SweepAxis::working_set;
  std::string variant;                  ///< how it was measured
  std::vector<SweepPoint> points;       ///< ascending in x; those of a message by ranks first
  std::vector<Plateau> plateaus;        ///< working_set only; ascending in x
  std::vector<double> boundaries;       ///< x where one plateau gives way to the next; one fewer than plateaus
  std::optional<double> saturates_at;   /// threads only: the fewest that reach 95 % of the maximum
  std::vector<LatencyLine> lines = {};  ///< message only: by ranks, ascending
  std::string measured_at = {};         ///< as of a ceiling
};

/// The bandwidth roof of a mix of reads and writes.
struct MixRoof {
  const Ceiling* nearest = nullptr;  ///< the measured mix whose share of writes is nearest; the higher one on a tie
  /// The measured mix on the other side, if the roof lies between both; null if it is the nearest's.
  const Ceiling* other = nullptr;
  double value = 0;  ///< byte/s
  Interval ci95 = {};
};

/// Ends the names of reference ceilings that one thread reaches alone: "fp32.one_core", "dram.read.one_core".
inline constexpr std::string_view kOneCore = ".one_core";

struct Machine {
  DeviceInfo device;
  std::vector<Ceiling> ceilings;
  std::vector<Sweep> sweeps;
  std::vector<Unmeasured> unmeasured;
  std::optional<double> idle_watts;  ///< idle power of the device, with an open context
  std::string measured_at;           ///< UTC, ISO 8601
  std::string tool_version;          ///< the version of roofline that measured
  std::string host;                  ///< operating system and kernel
  bool quick = false;                ///< measured with --quick: wider intervals
  std::optional<double> time_s;      /// time budget of the rounds of a CPU's calibration (--time)
  bool cancelled = false;

  /// The ceiling of that name and regime, or null.
  const Ceiling* find(std::string_view name, Regime regime = Regime::burst) const;

  /// The compute roof of `pipe`, or null.
  const Ceiling* compute(Pipe pipe, Regime regime = Regime::burst) const;

  /// The compute roof of the regime in which a kernel at that core clock ran: burst if within 1 % of its clock,
  /// if a clock is missing, if the clocks of both regimes are within 2 % or the sustained one did less per cycle
  /// (no limiter slowed it); otherwise the one with the nearer clock. Null without a roof of that pipe. For one of
  /// several `threads` (0: all), the reference ceiling of one core if there is one.
  const Ceiling* compute_at(Pipe pipe, std::optional<double> core_hz, std::int64_t threads = 0) const;

  /// The pipe on which operations for `pipe` run here: itself, except for a matrix unit without a roof on this
  /// CPU.
  Pipe unit_for(Pipe pipe) const;

  /// The burst bandwidth roof at `level` for the share of writes of `traffic` (write_share()); std::nullopt if none was
  /// measured. Between two measured mixes the time per byte is interpolated, which is the time of a kernel that moves
  /// its bytes first in one mix and then in the other. A mix within 1 % of a measured one is that one; a mix beyond all
  /// measured ones is the outermost. Mixes written in place apply to traffic in place only; those out of place (copy,
  /// triad, …) apply to such traffic only if no mix in place was measured at `level`. Patterns of links are directions:
  /// the nearest applies. For one of several `threads` (0: all), the single-core reference ceilings are used if there
  /// are any.
  std::optional<MixRoof> bandwidth(Level level, const Traffic& traffic, std::int64_t threads = 0) const;

  /// The cache whose ceilings bound a launch that finds `bytes` in caches: the nearest level that holds them, with
  /// equal shares for the `threads` (0: all). If that level has no ceiling, the next nearer one, whose ceilings are
  /// upper bounds too. On a GPU always L2, because L1 keeps nothing between launches. std::nullopt if no cache holds
  /// them.
  std::optional<Level> cache_for(double bytes, std::int64_t threads) const;

  /// Bytes of the largest cache, all its instances together; 0 if none is known.
  double largest_cache_bytes() const;

  /// True if the work runs on one of several `threads` (0: all).
  bool is_one_of_several(std::int64_t threads) const { return threads == 1 && device.units > 1; }

  /// The highest bandwidth ceiling at `level`: the slope of a chart. Null if none was measured.
  const Ceiling* slope(Level level) const;

  /// The bus bandwidth of that collective: its own roof, otherwise any at Level::network; or null.
  const Ceiling* network(const Collective& collective) const;

  /// The line of that collective for that number of ranks, or null. Latency depends on the number, so no other
  /// line applies.
  const LatencyLine* line(const Collective& collective) const;

  /// The launch floor of timed kernels: launch.graph, otherwise launch.pool, otherwise launch.stream.
  const Ceiling* launch() const;
};

/// The work with its operations on the units that this machine has for them.
Work on_units_of(const Machine& machine, Work work);

}  // namespace roofline
