// What a program does again and again between its steps, such as an evaluation.
#pragma once

#include <optional>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"

namespace roofline {

/// Recurring work between steps that has a line of its own; std::nullopt if there is none, or if it takes less than a
/// tenth of the time from the first step to the last.
std::optional<WorkBetweenSteps> work_between_steps(const Recording& recording, const FoundSteps& found);

}  // namespace roofline
