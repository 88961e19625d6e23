// Cost of a program's steps and of its start-up.
#pragma once

#include <optional>

#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "report/report.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// The steps for the report; std::nullopt if none were found. `rows` cover the uncounted steps, `points` are the
/// recording's groups in order; `samples` may be empty.
std::optional<Steps> sum_steps(const Recording& recording, const FoundSteps& found, const RowTimes& rows,
                               const std::vector<Point>& points, const HostSamples& samples = {});

/// Sets the length of steps outside the recording from the seconds between their marks. Marks are set by the host,
/// which may queue many steps at once and then wait: where their median is shorter than the GPU's work in a step, their
/// mean counts. Leaves it unknown where that is too short as well, or longer than the recorded steps.
void time_untouched(Steps& steps, const std::vector<double>& marks_s);

/// Moves idle time added by the recording into `recording_s`: unrecorded steps are shorter.
void take_out_recording(Steps& steps);

}  // namespace roofline
