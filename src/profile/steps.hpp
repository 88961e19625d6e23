// The steps of a program: the part of its launches that repeats.
#pragma once

#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// One step, from the host's first launch in it to the next step's.
struct Step {
  Span span;
  bool counted = false;  ///< counters were read in it
};

struct FoundSteps {
  StepSource source = StepSource::repetition;
  std::vector<Step> all;   ///< steady steps in order
  std::string why_none;    ///< empty where there are steps

  /// Spans of the steps in which nothing was counted.
  std::vector<Span> uncounted() const;
};

FoundSteps find_steps(const Recording& recording);

}  // namespace roofline
