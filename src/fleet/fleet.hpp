// Calibrations of many machines: groups of equal hardware, their norms, outliers with reasons, and changes over time.
// docs/fleet.md describes the method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/machine_summary.hpp"

namespace roofline {

/// A file that is not used, with the reason.
struct LeftOut {
  std::string file;
  std::string reason;
};

/// Distribution of one ceiling among machines of equal hardware.
struct CeilingNorm {
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Pipe> pipe = {};  ///< set for compute ceilings
  Role role = Role::roof;
  double median = 0;
  double spread = 0;            ///< 1.4826 MAD, relative to the median
  std::vector<float> relative;  ///< value / median - 1 of each machine whose ceiling passed its audit, ascending
  /// Relative distance below the median from which a machine is an outlier; empty if the ceiling is not judged.
  std::optional<double> threshold = {};
  std::vector<std::size_t> suspects;  ///< machines whose ceiling failed its audit or was not audited
  float core_hz = 0;                  ///< median; 0 if not recorded
  float temperature_c = 0;            ///< median; 0 if not recorded

  /// Quantile `p` of the values, in the ceiling's unit.
  double quantile(double p) const;
};

/// A slow ceiling of an outlier.
struct Deviation {
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Pipe> pipe = {};  ///< set for compute ceilings
  double value = 0;
  double relative = 0;  ///< value / median - 1; negative
  double score = 0;     ///< distance below the median, in units of the spread
};

struct Outlier {
  std::size_t machine = 0;              ///< index into Fleet::machines
  std::vector<Deviation> slow;          ///< largest deviation first
  std::vector<std::string> why;         ///< differences from the group that may explain these ceilings
  std::vector<std::string> also;        ///< other differences
  std::vector<std::string> unrecorded;  ///< facts that could explain it, but are not recorded
};

/// A resource that was not judged on every machine: its roofs are missing, or failed their audit, or too few are left
/// to compare.
struct JudgingGap {
  std::string_view resource;  ///< "dram", "pcie" or "tensor.bf16": bandwidths of one level or link, or a single roof
  bool main_memory = false;
  std::size_t judged = 0;  ///< machines of which at least one of its roofs was judged
};

/// Machines of equal hardware.
struct FleetGroup {
  std::string name;
  std::vector<std::size_t> machines;  ///< indices into Fleet::machines
  std::vector<CeilingNorm> norms;     ///< roofs first, in file order
  std::vector<Outlier> outliers;      ///< largest deviation first
  std::vector<JudgingGap> gaps;       ///< main memory, then fewest judged first; empty in groups too small to judge
  std::vector<std::string> notes;

  bool judged() const;
  /// The first gap of which fewer than half of the machines were judged; otherwise null.
  const JudgingGap* worst_gap() const;
};

/// A change of one ceiling over a machine's calibrations.
struct CeilingDrift {
  std::size_t machine = 0;  ///< index into Fleet::machines
  std::string_view label;
  CeilingKind kind = CeilingKind::bandwidth;
  bool step = true;   ///< a step between two files; otherwise a drift over all of them
  double ratio = 1;   ///< level after / level before
  std::string from;   ///< time of the last file before the step, or of the first file
  std::string to;     ///< time of the first file after the step, or of the last file
  std::string along;  ///< recorded facts that changed at the same time
};

struct Fleet {
  std::vector<std::string> paths;        ///< as given on the command line
  std::size_t files = 0;                 ///< number of files read
  std::vector<MachineSummary> machines;  ///< latest calibration of each machine
  std::vector<FleetGroup> groups;        ///< largest first
  std::vector<CeilingDrift> drifts;
  std::vector<LeftOut> left_out;
  std::string created_at;
  std::string tool_version;

  std::size_t outliers() const;
};

/// Smaller groups are not judged: they have no reliable norm.
inline constexpr std::size_t kFewestAlike = 5;
/// Smallest deviation that is reported; displayed as 3 %.
inline constexpr double kLeastDeviation = 0.025;

/// Groups, judges and explains. Quick, cancelled and repeated calibrations are appended to `left_out`.
Fleet fleet_of(std::vector<MachineSummary> summaries, std::vector<LeftOut> left_out = {});

// The individual steps.

/// Groups of machines of equal hardware, largest first.
std::vector<FleetGroup> groups_of(const std::vector<MachineSummary>& machines);
/// Resources that were not judged on every machine. After judge().
std::vector<JudgingGap> gaps_of(const FleetGroup& group, const std::vector<MachineSummary>& machines);
/// Sets norms, outliers and gaps, without reasons.
void judge(FleetGroup& group, const std::vector<MachineSummary>& machines);
/// Sets the reasons.
void explain(FleetGroup& group, const std::vector<MachineSummary>& machines);
/// Changes over one machine's calibrations, which are ordered by time. `machine` is copied to the result.
std::vector<CeilingDrift> drifts_of(const std::vector<const MachineSummary*>& history, std::size_t machine);

}  // namespace roofline
