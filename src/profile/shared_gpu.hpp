// Ranks that run kernels on another rank's GPU.
#pragma once

#include <string>
#include <vector>

#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"

namespace roofline {

struct SharedGpu {
  int rank = 0, other = 0;         ///< indices: the rank, and the one that uses the GPU as well
  int own_device = 0, device = 0;  ///< of the rank, and where it runs kernels; indices into Recording::devices
  double kernels_s = 0;            ///< of the rank on that GPU, in all steps
  double other_s = 0;              ///< kernels of the other rank there
  double share = 1;                ///< of `idle`, that equal work on both GPUs would save
  std::vector<Span> idle = {};     ///< of the rank's own GPU while these kernels run; sorted, disjoint
  std::string line = {};           ///< line that copies data to that GPU or from it, else that of most kernels
  std::string kernels_line = {};   ///< line that launches most of these kernels by time
};

/// Ranks whose kernels on another rank's GPU, and the idle time of the own GPU meanwhile, are at least a tenth of the
/// steps.
std::vector<SharedGpu> shared_gpus(const Job& job, const Recording& recording, const RankSteps& of_ranks,
                                   const std::vector<Span>& steps);

/// Makes the idle time that they cause a part of its own, taken from the other parts of these steps.
void name_shared_gpus(std::vector<IdlePart>& parts, const std::vector<SharedGpu>& shared, const Job& job,
                      const RankSteps& of_ranks, const std::vector<Span>& of);

}  // namespace roofline
