// Copies that only change the layout of a tensor: of a permuted or sliced view into a contiguous one, or between
// channels first and last.
#include <fmt/format.h>

#include <map>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {

std::vector<FoundCause> find_layout_copies(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.15;  // of the kernel time, at one line: attention in eager steps has a tenth
  constexpr double kShareOfSteps = 0.9;
  const StepActivities& steps = inputs.steps;
  std::map<std::string, FoundCause> lines;
  std::map<std::string, FaultyActivities> sums;
  for (const StepActivity& entry : steps.all) {
    const bool kernel = entry.activity->what == ActivityKind::kernel;
    if (!kernel || !is_layout_copy(entry.symbol) || !inputs.free(entry)) continue;
    const std::string line = steps.line(entry);
    sums[line].add(steps, entry, entry.seconds);
    lines[line].activities.insert(entry.activity);
  }
  std::vector<FoundCause> found;
  for (auto& [line, cause] : lines) {
    const FaultyActivities& sum = sums[line];
    if (sum.share_of_steps() < kShareOfSteps || sum.seconds < kLeastShare * steps.kernel_s) continue;
    Saving& saving = cause.saving;
    saving.kind = SavingKind::kernel;
    saving.cause = SavingCause::layout_copy;
    saving.line = line;
    saving.seconds = sum.seconds;
    saving.point = sum.group();
    saving.what = "Copies in each step only change the layout of tensors";
    saving.evidence =
        fmt::format("{} copies of strided tensors in {} steps, {}, {} of the kernel time", count(sum.count),
                    steps.steps.size(), duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
    saving.action = action_against(SavingCause::layout_copy, inputs.framework);
    found.push_back(std::move(cause));
  }
  return found;
}

}  // namespace roofline
