// The steps of a program: the part of its launches that repeats.
#pragma once

#include <string>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One step: from the first activity on a GPU of what the host launched first in it, to that of the next step. Not the
/// host's time, which may be many steps ahead of the GPU.
struct Step {
  Span span;
  bool counted = false;  ///< counters were read in it
  bool apart = false;    ///< of a single event that took far longer than any other step: late compilation, a pause
  double launches = 0;   ///< kernels, graphs, copies and memsets
};

/// Of the steps in which nothing was counted and that are not apart, in order.
std::vector<double> steady_seconds(const std::vector<Step>& steps);

bool is_steady(const Step& step);

struct FoundSteps {
  StepSource source = StepSource::repetition;
  int process = -1;       ///< whose steps they are: the one with the most GPU time
  std::vector<Step> all;  ///< steady steps in order; their spans are disjoint
  std::string why_none;   ///< empty where there are steps

  /// Spans of the steps that all figures are of: nothing was counted in them, and they are not apart.
  std::vector<Span> steady() const;
};

/// Steady steps, without slow first ones. By the range of that name, which may have numbers of its own ("step 7" is
/// found by "step *") or be a path, where one is given; else by ranges that are called a step, by the updates of an
/// optimizer, or by the repetition of launches, the first that is there.
FoundSteps find_steps(const Recording& recording, const std::string& range = {});

/// The same; where nearly all steps were counted or their instructions sampled, the sampled ones are taken too. Their
/// GPU times are as without, their launches take some microseconds longer.
FoundSteps find_undisturbed_steps(Recording& recording, const std::string& range = {});

}  // namespace roofline
