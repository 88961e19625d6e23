// What the steps of a program cost, and what it does before them.
#pragma once

#include <optional>

#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "report/report.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The steps as the report has them; nothing where none were found. `rows` are of the uncounted steps, `points` the
/// recording's groups in their order; `samples` may be empty.
std::optional<Steps> sum_steps(const Recording& recording, const FoundSteps& found, const RowTimes& rows,
                               const std::vector<Point>& points, const HostSamples& samples = {});

/// Moves what recording added to the idle times into `recording_s`: steps that were not recorded are shorter.
void take_out_recording(Steps& steps);

}  // namespace roofline
