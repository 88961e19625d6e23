// Many calibrations as one value: which machines are alike, what is normal for them, who falls behind and why, and
// what changed over time. docs/fleet.md has the method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/machine_summary.hpp"

namespace roofline {

/// A file that doesn't count, and why.
struct LeftOut {
  std::string file;
  std::string reason;
};

/// What is normal for one ceiling among machines that are alike.
struct CeilingNorm {
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  Role role = Role::roof;
  double median = 0;
  double spread = 0;            ///< 1.4826 MAD, relative to the median
  std::vector<float> relative;  ///< value / median - 1 of each machine whose ceiling passed its audit, ascending
  /// From how far below the median on a machine is an outlier; nothing where that isn't judged.
  std::optional<double> threshold = {};
  std::vector<std::size_t> suspects;  ///< machines whose ceiling failed its audit, or had none
  float core_hz = 0;                  ///< median; 0 where it is not recorded
  float temperature_c = 0;            ///< median; 0 where it is not recorded

  /// The quantile `p` of the values, in the unit of the ceiling.
  double quantile(double p) const;
};

/// A ceiling of an outlier.
struct Deviation {
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  double value = 0;
  double relative = 0;  ///< value / median - 1: negative
  double score = 0;     ///< how many times the spread it is below the median
};

struct Outlier {
  std::size_t machine = 0;              ///< in Fleet::machines
  std::vector<Deviation> slow;          ///< the furthest below first
  std::vector<std::string> why;         ///< what differs from the others and bears on these ceilings
  std::vector<std::string> also;        ///< what differs besides
  std::vector<std::string> unrecorded;  ///< what would tell and is not in its file
};

/// Machines of equal hardware.
struct FleetGroup {
  std::string name;
  std::vector<std::size_t> machines;  ///< in Fleet::machines
  std::vector<CeilingNorm> norms;     ///< roofs first, in the order of the files
  std::vector<Outlier> outliers;      ///< the furthest below first
  std::vector<std::string> notes;

  bool judged() const;
};

/// A ceiling of one machine that is no longer what it was.
struct CeilingDrift {
  std::size_t machine = 0;  ///< in Fleet::machines: the latest
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  bool step = true;   ///< from one file to the next, else over all of them
  double ratio = 1;   ///< of the level after to that before
  std::string from;   ///< time of the last file before, or of the first one
  std::string to;     ///< time of the first file after, or of the last one
  std::string along;  ///< what else changed in that moment; empty: nothing that is recorded
};

struct Fleet {
  std::vector<std::string> paths;        ///< as they were given
  std::size_t files = 0;                 ///< that were looked at
  std::vector<MachineSummary> machines;  ///< the latest calibration of each
  std::vector<FleetGroup> groups;        ///< the largest first
  std::vector<CeilingDrift> drifts;
  std::vector<LeftOut> left_out;
  std::string created_at;
  std::string tool_version;

  std::size_t outliers() const;
};

/// Fewer machines than this are not judged: nobody can say who of them is normal.
inline constexpr std::size_t kFewestAlike = 5;
/// The least that counts: what is written as 3 %.
inline constexpr double kLeastDeviation = 0.025;

/// Groups, judges and explains. `left_out` may hold files already; quick, cancelled and repeated calibrations join it.
Fleet fleet_of(std::vector<MachineSummary> summaries, std::vector<LeftOut> left_out = {});

// The steps of it, each on its own.

/// Indices of machines of equal hardware, the largest group first.
std::vector<FleetGroup> groups_of(const std::vector<MachineSummary>& machines);
/// Fills in norms and outliers, without their reasons.
void judge(FleetGroup& group, const std::vector<MachineSummary>& machines);
/// Fills in the reasons.
void explain(FleetGroup& group, const std::vector<MachineSummary>& machines);
/// What changed over the calibrations of one machine, in the order of time; `machine` is its index in the result.
std::vector<CeilingDrift> drifts_of(const std::vector<const MachineSummary*>& history, std::size_t machine);

}  // namespace roofline
