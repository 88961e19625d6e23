// Makes potential savings disjoint: no second of wall time is counted twice. Pure.
#pragma once

#include <utility>
#include <vector>

#include "profile/cause_detail.hpp"
#include "report/profile.hpp"

namespace roofline {

/// A potential saving and the kernels' time that it would save.
struct SavingClaim {
  Saving saving = {};
  std::vector<std::pair<int, double>> rows = {};  ///< row and seconds of its time; empty: no particular row
  /// Of a saving of communication: kernels that it saves besides, row and seconds.
  std::vector<std::pair<int, double>> kernels = {};
  CauseDetail detail = CauseDetail::none;  ///< of the saving's cause
  bool general = false;                    ///< names no specific cause: it gets what the others leave
  bool graph = false;                      ///< of a whole graph: its kernels' come before
};

/// Seconds available for savings, over all GPUs.
struct SavingLimits {
  double idle_s = 0, copies_s = 0, kernels_s = 0, communication_s = 0;
  std::vector<double> rows = {};  ///< kernels_s by row
};

/// Reduces each saving to what earlier ones left: specific causes before fusions, these before general ones, those of
/// graphs last; larger ones first; of equal ones the earlier. Code that was loaded or compiled once comes last in the
/// result. Savings of idle time are limited by the total idle time, those of copies by the copies' time, those of
/// communication by the time of collectives alone, all others by the kernels' time and by their rows' times. A claim
/// with less than `least_s` left is dropped.
std::vector<Saving> disjoint_savings(std::vector<SavingClaim> claims, SavingLimits limits, double least_s);

}  // namespace roofline
