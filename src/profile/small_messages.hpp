// Many small collectives: consecutive ones, or each between kernels that depend on it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// Small, latency-bound collectives of all ranks in the steps. Those that follow another one without a kernel in
/// between, or that run beside kernels, could be merged; others are in a chain of dependent kernels.
struct SmallMessages {
  double calls = 0, exposed_s = 0, bytes = 0;
  double at_roof_s = 0;                      ///< part of exposed_s that larger messages would take
  double waited_s = 0;                       ///< waiting for other ranks in them, while no other kernel runs
  double spread_s = 0;                       ///< part of waited_s without the few longest waits of each step
  std::map<std::string, double> lines = {};  ///< exposed and waited seconds per line
  bool mergeable = true;                     ///< most of them could be merged
  bool of_batch_norm = false;                ///< otherwise: many of them belong to PyTorch's SyncBatchNorm
  bool many = false;                         ///< enough in each step to cause lost time

  /// True if most waiting is in them, a little in each: ranks that launch many of them drift apart.
  bool explain_waiting(const RankSteps& steps) const;
};

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans,
                             const Machine& machine);

/// True if launching many small, mergeable collectives slows the host: they are the cause.
void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small);

}  // namespace roofline
