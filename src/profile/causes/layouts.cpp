// Copies that only change the layout of a tensor: of a permuted or sliced view into a contiguous one, or between
// channels first and last.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

/// "k.repeat_interleave(4, dim=1)", or a copy of a view that repeats values: writes each value several times.
bool repeats_values(const CauseInputs& inputs, const StepActivity& copy) {
  return contains_any(source_line(inputs, copy), {"repeat_interleave(", "repeat_kv(", ".repeat(", ".tile("}) ||
         is_near_text(inputs, copy, {".expand(", "broadcast_to("});
}

}  // namespace

std::vector<FoundCause> find_channels_first(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.05;  // of the kernel time
  const StepActivities& steps = inputs.steps;
  FaultyKernels kernels =
      faulty_kernels(inputs, [](const StepActivity& entry) { return is_channels_conversion(entry.symbol); });
  if (!kernels.sum.in_nearly_all_steps() || kernels.sum.seconds < kLeastShare * steps.kernel_s) return {};
  const std::string conversions = kernels.amount(steps, "conversions");
  double norms_s = 0;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel || !is_channels_first_norm(entry.symbol)) continue;
    const auto group = static_cast<std::size_t>(entry.activity->group);
    const double fraction = group < inputs.points.size() ? inputs.points[group].fraction_of_roof() : NAN;
    if (!inputs.free(entry) || !(fraction < 1)) continue;
    const double above = entry.seconds * (1 - fraction);
    kernels.sum.add(steps, entry, above);
    kernels.activities.insert(entry.activity);
    norms_s += above;
  }
  FoundCause found = kernels.cause(SavingCause::layout_copy, inputs, CauseDetail::channels_first);
  found.saving.what = what_is_lost(SavingCause::layout_copy, CauseDetail::channels_first);
  found.saving.evidence = conversions;
  if (norms_s > 0) {
    found.saving.evidence += fmt::format("; batch normalisation in NCHW {} above its roof", duration(norms_s));
  }
  return {std::move(found)};
}

std::vector<FoundCause> find_layout_copies(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.15;  // of the kernel time, at one line: attention in eager steps has a tenth
  const StepActivities& steps = inputs.steps;
  std::vector<FoundCause> found;
  for (const auto& [line, copies] :
       faulty_kernels_by_line(inputs, [](const StepActivity& entry) { return is_layout_copy(entry.symbol); })) {
    const FaultyActivities& sum = copies.sum;
    if (!sum.in_nearly_all_steps() || sum.seconds < kLeastShare * steps.kernel_s) continue;
    const auto of_line = std::ranges::find_if(steps.all, [&copies = copies](const StepActivity& entry) {
      return copies.activities.contains(entry.activity);
    });
    const bool repeats = of_line != steps.all.end() && repeats_values(inputs, *of_line);
    const CauseDetail detail = repeats ? CauseDetail::repeated_values : CauseDetail::none;
    FoundCause& cause = found.emplace_back(copies.cause(SavingCause::layout_copy, inputs, detail));
    cause.saving.what = repeats ? what_is_lost(SavingCause::layout_copy, detail)
                                : "Copies in each step only change the layout of tensors";
    cause.saving.evidence =
        fmt::format("{} copies of strided tensors in {} steps, {}, {} of the kernel time", count(sum.count),
                    steps.steps.size(), duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
  }
  return found;
}

}  // namespace roofline
