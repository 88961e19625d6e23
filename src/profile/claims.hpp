// Makes potential savings disjoint: no second of the wall time is promised twice. Pure.
#pragma once

#include <utility>
#include <vector>

#include "profile/cause_detail.hpp"
#include "report/profile.hpp"

namespace roofline {

/// A potential saving and the kernels' time that it would save.
struct SavingClaim {
  Saving saving = {};
  std::vector<std::pair<int, double>> rows = {};  ///< row and seconds of its time; empty: of no row in particular
  CauseDetail detail = CauseDetail::none;         ///< of the saving's cause
  bool general = false;  ///< names no cause beyond the part of the time: it gets what the others leave
};

/// Seconds that savings can come from, of all GPUs together.
struct SavingLimits {
  double idle_s = 0, copies_s = 0, kernels_s = 0, communication_s = 0;
  std::vector<double> rows = {};  ///< of kernels_s, by row
};

/// The savings with what those before them left, the general ones after the others and the larger ones first. Code that
/// was loaded or compiled once is last in the result. Those of idle time are at most the idle time together, those of
/// copies the copies' time, those of communication the time of collectives alone, all others the kernels' time, and for
/// each row that row's. A claim of which less than `least_s` is left is dropped. Of equal ones the earlier has
/// precedence.
std::vector<Saving> disjoint_savings(std::vector<SavingClaim> claims, SavingLimits limits, double least_s);

}  // namespace roofline
