// What a program does again and again between its steps, such as an evaluation.
#pragma once

#include <optional>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// Recurring work between steps that has a line of its own, such as an evaluation, or what `samples` of the host show
/// in the whole run: checkpoints, compilation, starts of worker processes. Of these the one that takes the largest
/// share. std::nullopt if there is none, or if it takes less than a tenth of the time from the first step to the last.
std::optional<WorkBetweenSteps> work_between_steps(const Recording& recording, const FoundSteps& found,
                                                   const HostSamples& samples);

}  // namespace roofline
