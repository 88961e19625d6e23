// Two suites on one device, row by row in alternation: which kernels of the later one are slower. docs/method.md
// (the regression gate) describes rounds and decisions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "config/suite.hpp"
#include "report/comparison/comparison.hpp"

namespace roofline {

struct AbOptions {
  DeviceChoice device = {};
  double threshold = kMaxSlowdown;  ///< as a fraction: 0.03 is 3 %
  /// Sampling time of the first rounds of a row; fresh rounds of a row that these do not clear take up to twice as
  /// long.
  double max_time_s = 3;
  std::optional<double> round_limit_s = {};  ///< after which a round is killed; std::nullopt: never
  std::vector<std::string> command = {};     ///< the command line, which both reports record
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

/// Both sides as reports, without roofs, and what changed between them.
struct AbResult {
  Report base, now;
  std::vector<PointChange> changes;
  double threshold = kMaxSlowdown;
  bool cancelled = false;

  /// A view; this has to outlive it.
  Comparison comparison() const;
};

/// Rows are matched as in a comparison of two runs. Each is verified on both sides, then timed in rounds, in child
/// processes: a side that fails or crashes becomes a failed row. At an interrupt, rows are decided by the rounds they
/// have.
AbResult compare_suites(const Suite& before, const Suite& now, const DeviceInfo& device, const AbOptions& options);

}  // namespace roofline
