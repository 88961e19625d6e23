// Steps that take much longer than the others, and their differences.
#pragma once

#include <vector>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// True for work that a program does in some steps only, such as saving, evaluating and logging. Other causes have more
/// specific names and actions.
bool of_rare_work(SavingCause cause);

/// Indices into `found.all` of uncounted steps far above the scatter of the others, in order, including steps apart.
std::vector<std::size_t> slow_steps(const FoundSteps& found);

/// The slowest steps, slowest first, each with what it did more than a normal step. Steps apart are explained by the
/// causes of their idle time, which is in no saving; `samples` may be empty.
std::vector<SlowStep> explain_slow_steps(const Recording& recording, const FoundSteps& found,
                                         const HostSamples& samples);

}  // namespace roofline
