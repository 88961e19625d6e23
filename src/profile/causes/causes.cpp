#include "profile/causes/causes.hpp"

#include <algorithm>
#include <array>

#include "profile/causes/detectors.hpp"

namespace roofline {
namespace {

using Detector = std::vector<FoundCause> (*)(const CauseInputs&);

/// The more specific ones first: what one has claimed, the next leave out.
constexpr auto kDetectors = std::to_array<Detector>({
    find_repeated_copies,
    find_pageable_copies,
    find_repeated_casts,
    find_unfused_optimizers,
    find_unfused_attention,
    find_checkpointing,
    find_plain_fp32_products,
    find_small_grids,
});

}  // namespace

std::vector<Saving> causes_of(const Recording& recording, const FoundSteps& steps, const std::vector<Point>& points,
                              const Machine& machine) {
  const StepActivities activities(recording, steps.uncounted());
  std::vector<Saving> savings;
  if (activities.steps.empty()) return savings;
  CauseInputs inputs = {.steps = activities, .points = points, .machine = machine};
  for (const Detector detector : kDetectors) {
    for (FoundCause& found : detector(inputs)) {
      if (found.saving.seconds < kLeastShareOfSteps * activities.total_s) continue;
      inputs.claimed.insert(found.activities.begin(), found.activities.end());
      savings.push_back(std::move(found.saving));
    }
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
  return savings;
}

}  // namespace roofline
