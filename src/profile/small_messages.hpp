// Many small collectives: one after the other, or each between kernels that need it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// Small collectives, whose time is latency, of all ranks in the steps. Those that follow another one without a kernel
/// in between could be merged with it, and those that run beside kernels; others need results of kernels, which wait
/// for theirs.
struct SmallMessages {
  double calls = 0, exposed_s = 0, bytes = 0;
  double at_roof_s = 0;                      ///< what of exposed_s larger messages would take
  double waited_s = 0;                       ///< in them for other ranks, without other kernels
  double spread_s = 0;                       ///< of that, without the few of each step that ranks wait longest in
  std::map<std::string, double> lines = {};  ///< exposed and waited seconds of each
  bool mergeable = true;                     ///< most of them
  bool of_batch_norm = false;                ///< else a good part of them is PyTorch's SyncBatchNorm's
  bool many = false;                         ///< enough in each step to be the cause of lost time

  /// Ranks that launch many of them one by one drift apart: most waiting is in them, a little in each.
  bool explain_waiting(const RankSteps& steps) const;
};

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans,
                             const Machine& machine);

/// The host is slow at launching many small collectives that could be merged: they are the cause.
void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small);

}  // namespace roofline
