// Conversions of data that has not changed since the step before.
#include <fmt/format.h>

#include <map>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {

std::vector<FoundCause> find_repeated_casts(const CauseInputs& inputs) {
  constexpr double kShareOfSteps = 0.9;
  const StepActivities& steps = inputs.steps;
  std::map<std::string, FoundCause> lines;
  std::map<std::string, FaultyActivities> sums;
  for (const StepActivity& entry : steps.all) {
    const spool::Launch* const launch = entry.activity->launch;
    const bool same = launch != nullptr && (launch->flags & spool::kSameInput) != 0;
    if (!same || !is_conversion(entry.symbol) || !inputs.free(entry)) continue;
    const std::string line = steps.line(entry);
    sums[line].add(steps, entry, entry.seconds);
    lines[line].activities.insert(entry.activity);
  }
  std::vector<FoundCause> found;
  for (auto& [line, cause] : lines) {
    const FaultyActivities& sum = sums[line];
    if (sum.share_of_steps() < kShareOfSteps) continue;
    Saving& saving = cause.saving;
    saving.kind = SavingKind::kernel;
    saving.cause = SavingCause::repeated_cast;
    saving.line = line;
    saving.seconds = sum.seconds;
    saving.point = sum.group();
    saving.what = "Unchanged data is converted to another type in every step";
    saving.evidence =
        fmt::format("{} conversions in {} steps, {}, {} of the kernel time; nothing else used their sources in between",
                    count(sum.count), steps.steps.size(), duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
    saving.action = action_against(SavingCause::repeated_cast, inputs.framework);
    found.push_back(std::move(cause));
  }
  return found;
}

}  // namespace roofline
