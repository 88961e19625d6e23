// The steps of a program: the repeating part of its launches.
#pragma once

#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One step: from the first GPU activity of its first host launch to that of the next step. Host time is not used,
/// because the host may be many steps ahead of the GPU.
struct Step {
  Span span;
  bool counted = false;  ///< counters were read in it
  bool apart = false;    ///< contains a single event far longer than any other step: late compilation, a pause
  double launches = 0;   ///< kernels, graphs, copies and memsets
};

/// The steps without counting that are not apart, in order.
std::vector<double> steady_seconds(const std::vector<Step>& steps);

bool is_steady(const Step& step);

struct FoundSteps {
  StepSource source = StepSource::repetition;
  int process = -1;       ///< process that the steps belong to: the one with the most GPU time
  std::vector<Step> all;  ///< steady steps in order; their spans are disjoint
  std::string why_none;   ///< empty if there are steps

  /// Spans of the steps that all figures cover: uncounted and not apart.
  std::vector<Span> steady() const;
};

/// Steady steps, without slow first ones. With a range name: steps are that range, whose name may contain numbers
/// ("step *" matches "step 7") or be a path. Otherwise the first available of: ranges named step, optimizer updates,
/// repetition of launches.
FoundSteps find_steps(const Recording& recording, const std::string& range = {});

/// The same, but if nearly all steps were counted or sampled, sampled steps are included. Their GPU times are
/// unchanged, their launches take some microseconds longer.
FoundSteps find_undisturbed_steps(Recording& recording, const std::string& range = {});

}  // namespace roofline
