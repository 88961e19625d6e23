// Conversions of data that has not changed since the step before.
#include <fmt/format.h>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {

namespace {

/// It converts what has not changed since it did so before.
bool has_same_input(const StepActivities& steps, const StepActivity& entry) {
  const spool::Launch* const launch = entry.activity->launch;  // of its graph, if it is in one
  const std::uint32_t in_graph = steps.trace(entry).kernels[entry.activity->index].flags;
  return ((launch != nullptr ? launch->flags : 0) & spool::kSameInput) != 0 || (in_graph & spool::kSameInput) != 0;
}

}  // namespace

std::vector<FoundCause> find_repeated_casts(const CauseInputs& inputs) {
  const StepActivities& steps = inputs.steps;
  std::vector<FoundCause> found;
  for (const auto& [line, casts] : faulty_kernels_by_line(inputs, [&](const StepActivity& entry) {
         return is_conversion(entry.symbol) && has_same_input(steps, entry);
       })) {
    const FaultyActivities& sum = casts.sum;
    if (!sum.in_nearly_all_steps()) continue;
    FoundCause& cause = found.emplace_back(casts.cause(SavingCause::repeated_cast, inputs));
    cause.saving.what = "Unchanged data is converted to another type in every step";
    cause.saving.evidence =
        fmt::format("{} conversions in {} steps, {}, {} of the kernel time; nothing else used their sources in between",
                    count(sum.count), steps.steps.size(), duration(sum.seconds), percent(sum.seconds / steps.kernel_s));
  }
  return found;
}

}  // namespace roofline
