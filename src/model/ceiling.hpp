// A ceiling: the measured maximum rate of a resource of the machine, with its evidence.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/contention.hpp"
#include "model/names.hpp"

namespace roofline {

/// A closed interval. NaN bounds mean that there is none (too few samples).
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();

  bool known() const { return std::isfinite(low) && std::isfinite(high); }
  double width() const { return high - low; }
  /// The interval, or the value alone where none is known.
  Interval or_exact(double value) const { return low > 0 && high > 0 ? *this : Interval{value, value}; }
};

/// Interval of a quotient, from the intervals of both operands.
inline Interval quotient(const Interval& dividend, const Interval& divisor) {
  return {dividend.low / divisor.high, dividend.high / divisor.low};
}

/// bandwidth: byte/s at a level; compute: FLOP/s on a pipe (integer and special operations count as one each);
/// overhead: launch/s of a launch path; latency: dependent access/s, so that 1 / value is the latency.
enum class CeilingKind : std::uint8_t { bandwidth, compute, overhead, latency };

/// roof: limits kernels. reference: measured and audited in the same way, for comparison only (one core, another
/// instruction, pageable memory, zeros as data).
enum class Role : std::uint8_t { roof, reference };

/// burst: before the power limiter acts; sustained: after clock and power have stabilised.
enum class Regime : std::uint8_t { burst, sustained };

/// provisional: measured, but not yet often enough or on too restless a machine to decide, without a sign of a fault.
enum class CheckStatus : std::uint8_t { pass, provisional, fail, not_run };

/// One check of an audit, with the figures that decided it.
struct Check {
  std::string name;
  CheckStatus status = CheckStatus::not_run;
  std::string detail;
};

struct Audit {
  std::vector<Check> checks;
  /// fail if any check failed, else provisional if any is; pass if at least one passed; otherwise not_run.
  CheckStatus status() const;
  bool suspect() const { return status() == CheckStatus::fail; }
  bool provisional() const { return status() == CheckStatus::provisional; }
};

/// The maximum rate by the hardware's description, e.g. "2 x 3201 MHz x 6016 bit".
struct Limit {
  double value = 0;  ///< same unit as the ceiling
  std::string basis;
  /// Instructions that each core issues per cycle at this rate, where no register of the CPU reports how many it can;
  /// 0: known. Not part of files.
  double assumed_issue = 0;
};

/// Clocks during the measurement, in Hz; absent if they could not be read.
struct Clocks {
  std::optional<double> core_hz;
  std::optional<double> memory_hz;
};

/// The clock limiter that the driver calls "SW power cap", as files spell it; other limiters are shown and not
/// compared.
inline constexpr std::string_view kPowerCap = "power cap";

/// Power and temperature during the measurement; absent if the device does not report them.
struct Power {
  std::optional<double> watts;              ///< mean over the measurement
  std::optional<double> joules_per_unit;    ///< per FLOP, byte or launch: energy over amount, idle power included
  std::optional<double> temperature_c;      ///< at the end of the measurement
  double seconds = 0;                       /// duration of the energy measurement; 0 if energy was not read
  std::optional<std::string> limiter = {};  /// clock-limit reason: "power cap", "thermal"; empty: none
};

/// The best value of a ceiling in earlier calibrations of the same machine.
struct PastBest {
  double value = 0;                    ///< in the unit of the ceiling
  std::string measured_at;             ///< UTC, ISO 8601
  std::optional<double> core_hz = {};  ///< the core clock then; absent where it could not be read
};

/// Spellings of Ceiling::origin that decide how a ceiling is used; others are shown only ("library GEMM").
inline constexpr std::string_view kProbeOrigin = "probe";
inline constexpr std::string_view kAttributesOrigin = "attributes";  ///< of the device, as its driver reports them
inline constexpr std::string_view kDataSheetOrigin = "data sheet";

struct Ceiling {
  std::string name;  ///< "hbm.read", "tensor.fp16", "launch.graph"; a burst and a sustained ceiling share it
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Level> level;      ///< bandwidth only
  std::optional<Pattern> pattern;  ///< bandwidth only
  std::optional<Pipe> pipe;        ///< compute only
  double value = 0;                ///< byte/s, FLOP/s or launch/s: amount / value is always a time
  Interval ci95;                   ///< 95 % interval of `value`
  /// Rate of the median sample, in the unit of `value`, if that is the fast plateau of several rounds (burst
  /// ceilings of a CPU); absent if it is the median itself.
  std::optional<double> median_rate;
  std::int64_t rounds = 0;           /// over the whole calibration; 0: measured without interruption
  std::int64_t agreeing_rounds = 0;  /// rounds within 1 % of this value
  Regime regime = Regime::burst;
  Role role = Role::roof;
  std::string origin;       ///< "probe", "library GEMM"
  std::string variant;      /// the fastest variant: "avx2, 10 chains, 2 threads"
  std::string instruction;  /// instruction that was measured: "HGMMA 64x256x16"; empty if there is no single one
  std::string below_peak;   /// why this path cannot reach the chip's full rate; empty if it can
  double amount = 0;        ///< FLOPs, bytes, launches or accesses of one launch of the probe
  std::optional<Limit> limit;
  Audit audit;
  Clocks clocks;
  Power power;
  std::int64_t samples = 0;
  std::string stop;                           /// why sampling stopped
  std::optional<Contention> contention = {};  /// other load during sampling, if significant
  std::optional<PastBest> past_best = {};     /// the best earlier value, if it was higher
  std::string measured_at = {};  ///< UTC, ISO 8601, of an earlier calibration than the machine's; empty: the machine's
  double took_s = 0;             /// duration: search, sampling and audit (and the sustained run, for a burst one)

  bool suspect() const { return audit.suspect(); }
  bool provisional() const { return audit.provisional(); }
  /// True if it was not measured: a limit from the device's attributes or its data sheet.
  bool is_data_sheet_limit() const { return origin == kAttributesOrigin || origin == kDataSheetOrigin; }
};

/// Work per core-clock cycle of a ceiling relative to another of its pipe; NaN if a clock is missing. Under a
/// limiter, burst and sustained differ by their clocks only.
double share_in_a_cycle(const Ceiling& ceiling, const Ceiling& other);
inline constexpr double kSameInACycle = 0.03;

/// True if it runs at the core clock, as pipes and caches do; main memory and links have their own clocks.
bool follows_core_clock(const Ceiling& ceiling);

/// share_in_a_cycle() of a ceiling relative to its earlier best; NaN if there is none or a clock is missing.
double share_in_a_cycle_of_before(const Ceiling& ceiling);

std::string_view to_string(CeilingKind kind);
std::string_view to_string(Regime regime);
std::string_view to_string(Role role);
std::string_view to_string(CheckStatus status);
std::optional<CeilingKind> parse_ceiling_kind(std::string_view text);
std::optional<Regime> parse_regime(std::string_view text);
std::optional<Role> parse_role(std::string_view text);
std::optional<CheckStatus> parse_check_status(std::string_view text);

/// The share of writes in a pattern's traffic: 0 for reads, 1/3 for a triad, 1 for writes; std::nullopt for link
/// patterns.
std::optional<double> write_share(Pattern pattern);

/// "byte/s", "FLOP/s", "launch/s" or "access/s".
std::string_view unit_of(CeilingKind kind);

}  // namespace roofline
