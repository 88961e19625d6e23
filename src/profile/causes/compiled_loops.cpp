// Loops of compiled code (lax.scan, fori_loop, while_loop) whose iterations are too short to fill a GPU: a kernel, or a
// small graph of kernels, for each.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "profile/causes/detectors.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::string_view kOfLoop = "hlo_op=while";

/// Launched in a loop: by itself, or in a graph.
bool is_of_loop(const CauseInputs& inputs, const Activity& activity) {
  const auto in_loop = [&](int group) {
    return group >= 0 &&
           inputs.steps.recording.groups[static_cast<std::size_t>(group)].range.find(kOfLoop) != std::string::npos;
  };
  return in_loop(activity.group) || in_loop(activity.graph);
}

}  // namespace

std::vector<FoundCause> find_compiled_loops(const CauseInputs& inputs) {
  constexpr double kOften = 64;        // launches in a step
  constexpr double kShort = 20e-6;     // mean, s
  constexpr double kLeastShare = 0.1;  // of the steps
  const StepActivities& steps = inputs.steps;
  if (inputs.framework != Framework::jax) return {};
  std::map<int, std::pair<double, double>> rows;  // launches and seconds
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel || !is_of_loop(inputs, *entry.activity)) continue;
    auto& [launches, seconds] = rows[entry.activity->group];
    ++launches;
    seconds += entry.seconds;
  }
  const double often = kOften * static_cast<double>(steps.steps.size());
  FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const auto row = rows.find(entry.activity->group);
    return row != rows.end() && row->second.first >= often && row->second.second <= kShort * row->second.first;
  });
  if (kernels.sum.count == 0 || kernels.sum.seconds < kLeastShare * steps.total_s) return {};
  FoundCause found = kernels.cause(SavingCause::small_batch, inputs, CauseDetail::kernel_loop);
  found.saving.seconds = 0;
  for (const auto& [row, seconds] : kernels.sum.groups)
    found.saving.seconds += lost_share(inputs.points, row, 1) * seconds;
  const double in_a_step = static_cast<double>(kernels.sum.count) / static_cast<double>(steps.steps.size());
  found.saving.what = "A loop in the compiled step (lax.scan, while_loop) runs short kernels one after another";
  found.saving.evidence = fmt::format("{} launches of {} in each step", count(std::llround(in_a_step)),
                                      duration(kernels.sum.seconds / static_cast<double>(kernels.sum.count)));
  return {std::move(found)};
}

}  // namespace roofline
