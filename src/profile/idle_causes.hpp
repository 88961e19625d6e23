// Causes of GPU idle time in the steady steps of a program, from gaps, calls and host samples, with source lines.
#pragma once

#include <vector>

#include "profile/cause_detail.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// A part of the idle time of one GPU.
struct IdlePart {
  int device = 0;
  SavingCause cause = SavingCause::unknown_idle;
  double seconds = 0;
  std::string line;      ///< line that causes it; empty: unknown
  std::string evidence;  ///< figures: "61 gaps, median 3.1 ms; in 97 % of them the thread ran load_batch (data.py:31)"
  CauseDetail detail = CauseDetail::none;
};

/// Splits the idle time of each device within `steps` (sorted, disjoint) into disjoint parts whose sum is at most the
/// idle time; time without evidence is `unknown_idle`. `samples` may be empty.
std::vector<IdlePart> idle_parts(const Recording& recording, const std::vector<Span>& steps,
                                 const HostSamples& samples);

}  // namespace roofline
