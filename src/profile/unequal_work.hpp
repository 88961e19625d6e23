// Where a late rank has more work than a typical one: lines, and the part of the step, which decides the remedy.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profile/cause_detail.hpp"
#include "profile/ranks.hpp"

namespace roofline {

/// One line on two ranks, in all steps: seconds of kernels, or launches.
struct LineDifference {
  std::string line;            ///< empty: unknown
  double here = 0, there = 0;  ///< of the late rank, and of the typical one
  double more() const { return here - there; }
};

/// By line, the largest excess of the late rank first. `by_time`: seconds of kernels, else launches.
std::vector<LineDifference> line_differences(const Recording& recording, const RankWork& here, const RankWork& there,
                                             bool by_time);

/// Share of a line in all that the late rank has more of, as a fraction.
double share_of_more(const std::vector<LineDifference>& lines, const LineDifference& line);

/// The part of the step in which the kernels of `rank` take longer than those of `other`, indices of ranks:
/// `uneven_updates`, `split_sequence`, or none.
CauseDetail detail_of_unequal_work(const Job& job, const Recording& recording, const std::vector<RankWork>& work,
                                   int rank, int other);

/// True if most of the additional work of `here` is neither in a forward pass of a module nor in a backward pass, as in
/// a validation: then it is no larger part of the model. False where modules are unknown.
bool works_outside_model(const Recording& recording, const RankWork& here, const RankWork& there);

}  // namespace roofline
