// Groups the launches of all processes of a recording.
#pragma once

#include <cstddef>

#include "profile/recording.hpp"

namespace roofline {

/// Adds devices, groups and activities of the recording's traces. With more than `most` groups, those with the least
/// time are merged.
void add_records(Recording& recording, std::size_t most);

}  // namespace roofline
