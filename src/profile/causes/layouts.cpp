// Copies that only change the layout of a tensor: of a permuted or sliced view into a contiguous one, or between
// channels first and last.
#include <fmt/format.h>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {

std::vector<FoundCause> find_layout_copies(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.15;  // of the kernel time, at one line: attention in eager steps has a tenth
  constexpr double kShareOfSteps = 0.9;
  const StepActivities& steps = inputs.steps;
  std::vector<FoundCause> found;
  for (const auto& [line, copies] :
       faulty_kernels_by_line(inputs, [](const StepActivity& entry) { return is_layout_copy(entry.symbol); })) {
    const FaultyActivities& sum = copies.sum;
    if (sum.share_of_steps() < kShareOfSteps || sum.seconds < kLeastShare * steps.kernel_s) continue;
    FoundCause& cause = found.emplace_back(copies.cause(SavingCause::layout_copy, inputs));
    cause.saving.what = "Copies in each step only change the layout of tensors";
    cause.saving.evidence =
        fmt::format("{} copies of strided tensors in {} steps, {}, {} of the kernel time", count(sum.count),
                    steps.steps.size(), duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
  }
  return found;
}

}  // namespace roofline
