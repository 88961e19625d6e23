// Work that one rank of a job does alone, such as a validation.
#pragma once

#include <string>
#include <vector>

#include "profile/ranks.hpp"

namespace roofline {

/// The line at which `rank`, and no other one, launches most kernels; empty if there is none, or if it launches more
/// than `other` also in steps without launches from such lines. Ranks are indices into the job; `work` is that of
/// `steps`.
std::string line_of_lone_work(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                              const std::vector<RankWork>& work, int rank, int other);

}  // namespace roofline
