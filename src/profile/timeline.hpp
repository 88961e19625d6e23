// The busiest moments of a recording, activity by activity.
#pragma once

#include <optional>

#include "profile/recording.hpp"
#include "report/profile.hpp"

namespace roofline {

/// The window in which the GPUs did most: at most `most_s` long and short enough for a picture. Nothing where there was
/// no activity. Points are the recording's groups in their order.
std::optional<Timeline> busiest_window(const Recording& recording, double most_s = 0.1);

}  // namespace roofline
