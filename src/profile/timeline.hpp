// Timeline of a typical step on its GPUs and host threads.
#pragma once

#include <cstddef>
#include <optional>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The uncounted step closest to the median; within 2 % of it, one with many samples: an index into `found.all`.
/// std::nullopt without steps.
std::optional<std::size_t> typical_step(const FoundSteps& found, const HostSamples& samples = {});

/// Timeline of that step; without steps, of at most `most_s` with the most GPU work. std::nullopt without GPU activity.
/// Short bars are merged if there are too many. `points` are the recording's groups in order.
std::optional<Timeline> timeline_of(const Recording& recording, const FoundSteps& found, const HostSamples& samples,
                                    double most_s = 0.1);

}  // namespace roofline
