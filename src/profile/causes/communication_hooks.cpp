// Kernels of communication hooks: compression of gradients before they are reduced.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "model/find.hpp"
#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "sample/python_files.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

bool is_of_hook(const CauseInputs& inputs, const StepActivity& kernel) {
  const ProcessTrace& trace = inputs.steps.trace(kernel);
  return !is_collective(kernel.symbol) && is_communication_hook(trace.text(trace.line(kernel.place.line).file));
}

/// The line that runs the backward pass, which calls the hook; empty: unknown.
std::string backward_line(const CauseInputs& inputs, const FaultyKernels& kernels) {
  const std::vector<std::string>& lines = inputs.steps.recording.backward_lines;
  const auto process = static_cast<std::size_t>((*kernels.activities.begin())->process);
  return process < lines.size() ? lines[process] : std::string();
}

}  // namespace

std::vector<FoundCause> find_communication_hooks(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.1;  // of the kernel time: conversions to 16 bits take less
  const StepActivities& steps = inputs.steps;
  const FaultyKernels kernels =
      faulty_kernels(inputs, [&](const StepActivity& entry) { return is_of_hook(inputs, entry); });
  if (!kernels.sum.in_nearly_all_steps() || kernels.sum.seconds < kLeastShare * steps.kernel_s) return {};
  double launches = 0;
  for (const StepActivity& entry : steps.all) launches += entry.activity->what == ActivityKind::kernel ? 1 : 0;
  FoundCause found = kernels.cause(SavingCause::communication_hook, inputs);
  const std::string hook = std::exchange(found.saving.line, backward_line(inputs, kernels));
  found.saving.what = fmt::format(
      "{}: {} of the kernel time and {} of the launches", what_is_lost(SavingCause::communication_hook),
      percent(kernels.sum.seconds / steps.kernel_s), percent(static_cast<double>(kernels.sum.count) / launches));
  found.saving.evidence = fmt::format("{}; launched by {}", kernels.amount(steps, "kernels"), hook);
  return {std::move(found)};
}

}  // namespace roofline
