// Steps that take much longer than the others, and what was different in them.
#pragma once

#include <vector>

#include "profile/recording.hpp"
#include "profile/steps.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// What a program does in some steps only, such as saving, evaluating and logging. Other causes say more by their own
/// names, and have actions of their own.
bool of_rare_work(SavingCause cause);

/// Indices into `found.all` of uncounted steps far above the others' scatter, in order; those that are apart among
/// them.
std::vector<std::size_t> slow_steps(const FoundSteps& found);

/// The slowest of them, the slowest first, each with what it did more than a step that is not slow. Steps apart are
/// explained by the causes of their idle time, which no saving has; `samples` may be empty.
std::vector<SlowStep> explain_slow_steps(const Recording& recording, const FoundSteps& found,
                                         const HostSamples& samples);

}  // namespace roofline
