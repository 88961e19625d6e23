// Conversions of data that has not changed since the step before.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

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

/// Conversions whose source has changed. PyTorch divides an operation on more elements than 32 bits can index among
/// launches, of which only the first is given the address that the source was written at.
std::set<const Activity*> of_changed_sources(const StepActivities& steps) {
  constexpr std::int64_t kManyBlocks = 1 << 18;
  std::set<const Activity*> changed;
  std::map<int, const StepActivity*> last;  // kernel of a device
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    const StepActivity* const before = std::exchange(last[entry.activity->device], &entry);
    if (!is_conversion(entry.symbol)) continue;
    const bool goes_on = before != nullptr && changed.contains(before->activity) && before->symbol == entry.symbol &&
                         before->place.line == entry.place.line && before->blocks() >= kManyBlocks &&
                         entry.blocks() <= before->blocks();
    if (goes_on || !has_same_input(steps, entry)) changed.insert(entry.activity);
  }
  return changed;
}

}  // namespace

std::vector<FoundCause> find_repeated_casts(const CauseInputs& inputs) {
  const StepActivities& steps = inputs.steps;
  const std::set<const Activity*> changed = of_changed_sources(steps);
  std::vector<FoundCause> found;
  for (const auto& [line, casts] : faulty_kernels_by_line(inputs, [&](const StepActivity& entry) {
         return is_conversion(entry.symbol) && !changed.contains(entry.activity);
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
