// What a job of several ranks loses by waiting for one of them and by communication without overlap.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/actions.hpp"
#include "profile/claims.hpp"
#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"
#include "profile/savings.hpp"

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
};

/// Small collectives that follow another one without a kernel in between: they could be merged with it. Of all ranks,
/// in the steps.
struct SmallMessages {
  double calls = 0, exposed_s = 0, bytes = 0;
  double waited_s = 0;                       ///< in them for other ranks, without other kernels
  std::map<std::string, double> lines = {};  ///< exposed seconds of each
  bool many = false;                         ///< enough in each step to be worth merging

  /// Ranks that launch many of them one by one drift apart: most waiting is in them.
  bool explain_waiting(const RankSteps& steps) const;
};

/// `spans`: of the steps; `parts`: of the idle time within them.
std::optional<LateFinding> late_finding(const Job& job, const RankSteps& steps, const Recording& recording,
                                        const std::vector<Span>& spans, const std::vector<IdlePart>& parts,
                                        const SmallMessages& small);

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans);

/// What the ranks lose, as claims on the rows of collectives. `rows`: times within the steps.
RankSavings rank_savings(const Job& job, const RankSteps& steps, const std::optional<LateFinding>& late,
                         const SmallMessages& small, const Ranks& report, const RowTimes& rows, Framework framework);

/// The idle time that makes a rank late is the waiting of the others, which has its own finding: takes it out of the
/// parts of these steps (`all` are those of `steps`).
void take_out_late(std::vector<IdlePart>& parts, const LateFinding& finding, const RankSteps& steps,
                   const std::vector<Span>& all, const std::vector<Span>& of);

/// The host is slow at launching many small collectives: they are the cause.
void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small);

/// A synchronisation at a line that launches a collective waits for all ranks: a barrier.
void name_barriers(std::vector<IdlePart>& parts, const Recording& recording);

}  // namespace roofline
