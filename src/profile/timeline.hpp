// A typical step of a program, activity by activity, on its GPUs and its host threads.
#pragma once

#include <cstddef>
#include <optional>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The uncounted step whose time is nearest to their median, to 2 % one with many samples: an index into `found.all`.
/// Nothing without steps.
std::optional<std::size_t> typical_step(const FoundSteps& found, const HostSamples& samples = {});

/// That step; without steps at most `most_s` with the most work on GPUs. Nothing where no GPU did anything. Short bars
/// are merged where there are too many. Points are the recording's groups in their order.
std::optional<Timeline> timeline_of(const Recording& recording, const FoundSteps& found, const HostSamples& samples,
                                    double most_s = 0.1);

}  // namespace roofline
