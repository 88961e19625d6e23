// Which rank the others wait for, and what makes it late.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"
#include "profile/small_messages.hpp"

namespace roofline {

/// A late rank with its cause: of its host, the place that it idles for most beyond a typical rank.
struct LateFinding {
  LateRanks late;
  LateCause cause;
  std::optional<IdlePart> idle = {};
  std::vector<int> devices = {};  ///< of the late ranks
  int typical_device = 0;         ///< of the rank that they are compared with
  std::string line = {};          ///< that launches its additional work or copies; empty: not known
  bool pageable = false;          ///< these copies are from or to pageable memory
  int cpus = 0, other_cpus = 0;   ///< of a late host that may run on fewer CPUs than the typical one; 0: it may not
};

/// `spans`: of the steps; `parts`: of the idle time within them.
std::optional<LateFinding> late_finding(const Job& job, const RankSteps& steps, const Recording& recording,
                                        const std::vector<Span>& spans, const std::vector<IdlePart>& parts,
                                        const SmallMessages& small);

/// The idle time that makes a rank late is the waiting of the others, which has its own finding: takes it out of the
/// parts of these steps (`all` are those of `steps`).
void take_out_late(std::vector<IdlePart>& parts, const LateFinding& finding, const RankSteps& steps,
                   const std::vector<Span>& all, const std::vector<Span>& of);

}  // namespace roofline
