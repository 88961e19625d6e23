// The rank that the others wait for, and what makes it late.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"
#include "profile/small_messages.hpp"
#include "profile/unequal_work.hpp"

namespace roofline {

/// A late rank and its cause; for a late host, the place where it idles most compared with a typical rank.
struct LateFinding {
  LateRanks late;
  LateCause cause;
  std::optional<IdlePart> idle = {};
  std::vector<int> devices = {};           ///< devices of the late ranks
  int typical_device = 0;                  ///< device of the rank that they are compared with
  std::string line = {};                   ///< line that launches its additional work or copies; empty: unknown
  bool lone = false;                       ///< no other rank runs that line
  bool outside_model = false;              ///< its additional work is no part of a model's forward or backward pass
  double line_share = 0;                   ///< share of that line in the kernel time that the late rank has more of
  CauseDetail detail = CauseDetail::none;  ///< part of the step with unequal work
  /// Known lines with more kernel time on the late rank, largest excess first; unequal work only.
  std::vector<LineDifference> more_lines = {};
  bool pageable = false;         ///< its copies use pageable memory
  int cpus = 0, other_cpus = 0;  ///< CPUs of a late host with fewer than the typical one; 0: not fewer
};

/// `spans`: the steps; `parts`: idle time within them.
std::optional<LateFinding> late_finding(const Job& job, const RankSteps& steps, const Recording& recording,
                                        const std::vector<Span>& spans, const std::vector<IdlePart>& parts,
                                        const SmallMessages& small);

/// Removes the idle time that makes a rank late from the parts of these steps (`all` are those of `steps`): it is
/// reported as waiting of the other ranks.
void take_out_late(std::vector<IdlePart>& parts, const LateFinding& finding, const RankSteps& steps,
                   const std::vector<Span>& all, const std::vector<Span>& of);

}  // namespace roofline
