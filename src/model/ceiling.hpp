// A ceiling: one measured rate that a resource of the machine can't exceed, with what proves it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// A closed interval. NaN bounds mean that none could be given (too few samples).
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// bandwidth: byte/s at a level; compute: FLOP/s on a pipe; overhead: launch/s of a launch path.
enum class CeilingKind : std::uint8_t { bandwidth, compute, overhead };

/// burst: before the power limiter acts; sustained: after clock and power have settled.
enum class Regime : std::uint8_t { burst, sustained };

enum class CheckStatus : std::uint8_t { pass, fail, not_run };

/// One check of an audit, with the figures that decided it.
struct Check {
  std::string name;
  CheckStatus status = CheckStatus::not_run;
  std::string detail;
};

struct Audit {
  std::vector<Check> checks;
  /// fail as soon as one check failed; pass when at least one passed and none failed; else not_run.
  CheckStatus status() const;
  bool suspect() const { return status() == CheckStatus::fail; }
};

/// The most that the hardware could do by its own description, e.g. "2 x 3201 MHz x 6016 bit".
struct Limit {
  double value = 0;  ///< same unit as the ceiling
  std::string basis;
};

/// Clocks during the measurement, in Hz; absent where they could not be read.
struct Clocks {
  std::optional<double> core_hz;
  std::optional<double> memory_hz;
};

struct Ceiling {
  std::string name;  ///< "hbm.read", "tensor.fp16", "launch.graph"
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Level> level;      ///< bandwidth only
  std::optional<Pattern> pattern;  ///< bandwidth only
  std::optional<Pipe> pipe;        ///< compute only
  double value = 0;                ///< byte/s, FLOP/s or launch/s: amount / value is always a time
  Interval ci95;                   ///< 95 % interval of `value`
  Regime regime = Regime::burst;
  std::string origin;   ///< "probe", "library GEMM"
  std::string variant;  ///< what won the search: "avx2, 10 chains, 2 threads"
  std::optional<Limit> limit;
  Audit audit;
  Clocks clocks;
  std::int64_t samples = 0;
  std::string stop;  ///< why the sampling stopped

  bool suspect() const { return audit.suspect(); }
};

std::string_view to_string(CeilingKind kind);
std::string_view to_string(Regime regime);
std::string_view to_string(CheckStatus status);
std::optional<CeilingKind> parse_ceiling_kind(std::string_view text);
std::optional<Regime> parse_regime(std::string_view text);
std::optional<CheckStatus> parse_check_status(std::string_view text);

/// "byte/s", "FLOP/s" or "launch/s".
std::string_view unit_of(CeilingKind kind);

}  // namespace roofline
