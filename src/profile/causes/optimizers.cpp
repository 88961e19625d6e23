// Updates of parameters with a kernel for each parameter and operation, or for each operation.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kFewestParameters = 8;
constexpr std::size_t kLongestPeriod = 24;  ///< kernels of a parameter

/// The period with which the kernels repeat at least that often; 0: they don't.
std::size_t period_of_run(const std::vector<const StepActivity*>& run) {
  constexpr double kAlike = 0.8;  // parameters of some shapes have kernels with other template arguments
  for (std::size_t period = 1; period <= kLongestPeriod && period * kFewestParameters <= run.size(); ++period) {
    std::size_t alike = 0;
    for (std::size_t i = period; i < run.size(); ++i) alike += run[i]->symbol == run[i - period]->symbol ? 1 : 0;
    if (static_cast<double>(alike) >= kAlike * static_cast<double>(run.size() - period)) return period;
  }
  return 0;
}

/// The launches of one process and device in order.
class RunFinder {
 public:
  explicit RunFinder(std::vector<OptimizerRun>& runs) : runs_(runs) {}

  void add(const StepActivity& kernel) {
    if (kernel.place.backward != 0) {
      close();
      after_backward_ = true;
      return;
    }
    const bool belongs = after_backward_ && kernel.place.module == 0 && kernel.place.line != 0 &&
                         is_elementwise(kernel.symbol) && (kernel.kind.flags & spool::kInGraph) == 0;
    const bool goes_on =
        belongs && !run_.empty() && run_.front()->place.line == kernel.place.line && run_.front()->step == kernel.step;
    if (!goes_on) close();
    if (belongs) run_.push_back(&kernel);
    if (is_product(kernel.symbol)) after_backward_ = false;  // the next forward pass
  }

  void close() {
    if (const std::size_t period = period_of_run(run_); period > 0) runs_.push_back({std::move(run_), period});
    run_.clear();
  }

 private:
  std::vector<OptimizerRun>& runs_;
  std::vector<const StepActivity*> run_;
  bool after_backward_ = false;
};

}  // namespace

bool updates_lists(const StepActivity& kernel) {
  return is_of_tensor_lists(kernel.symbol) && kernel.place.backward == 0;
}

std::vector<OptimizerRun> optimizer_runs(const StepActivities& steps) {
  std::vector<OptimizerRun> runs;
  std::map<std::pair<int, int>, RunFinder> finders;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    finders.try_emplace({entry.activity->process, entry.activity->device}, runs).first->second.add(entry);
  }
  for (auto& [device, finder] : finders) finder.close();
  return runs;
}

std::vector<FoundCause> find_unfused_optimizers(const CauseInputs& inputs) {
  constexpr double kShareOfSteps = 0.5;
  const StepActivities& steps = inputs.steps;
  struct Sum {
    FaultyActivities kernels;
    std::set<const Activity*> activities;
    double saved = 0;
    std::size_t parameters = 0;
  };
  std::map<std::string, Sum> lines;
  for (const OptimizerRun& run : optimizer_runs(steps)) {
    Sum& sum = lines[steps.line(*run.launches.front())];
    double total = 0, shortest = run.launches.front()->seconds;
    for (const StepActivity* kernel : run.launches) {
      if (!inputs.free(*kernel)) continue;
      sum.kernels.add(steps, *kernel, kernel->seconds);
      sum.activities.insert(kernel->activity);
      total += kernel->seconds;
      shortest = std::min(shortest, kernel->seconds);
    }
    // A fused kernel reads and writes each parameter once, and has the fixed cost of one short kernel.
    const double passes = total * (1 - 1 / static_cast<double>(run.period));
    const double fixed = shortest * static_cast<double>(run.launches.size() - 1);
    sum.saved += std::min(total, std::max(passes, fixed));
    sum.parameters = std::max(sum.parameters, run.launches.size() / run.period);
  }
  std::vector<FoundCause> found;
  for (auto& [line, sum] : lines) {
    if (sum.kernels.share_of_steps() < kShareOfSteps) continue;
    Saving saving;
    saving.kind = SavingKind::fusion;
    saving.cause = SavingCause::unfused_optimizer;
    saving.line = line;
    saving.seconds = sum.saved;
    saving.point = sum.kernels.group();
    saving.what = "Parameters are updated with a kernel for each parameter and operation";
    saving.evidence = fmt::format("{} kernels in {} steps for {} parameters, {}", count(sum.kernels.count),
                                  steps.steps.size(), sum.parameters, duration(sum.kernels.seconds));
    saving.action = action_against(SavingCause::unfused_optimizer, inputs.framework);
    found.push_back({std::move(saving), std::move(sum.activities)});
  }
  return found;
}

std::vector<FoundCause> find_optimizer_passes(const CauseInputs& inputs) {
  constexpr std::size_t kFewestPasses = 4;
  const StepActivities& steps = inputs.steps;
  std::map<std::string, std::set<std::string_view>> operations;  // by line
  const auto of_optimizer = [&](const StepActivity& entry) {
    if (!updates_lists(entry)) return false;
    operations[steps.line(entry)].insert(entry.symbol);
    return true;
  };
  std::vector<FoundCause> found;
  for (const auto& [line, kernels] : faulty_kernels_by_line(inputs, of_optimizer)) {
    const std::size_t passes = operations.at(line).size();
    const double kernels_s = kernels.sum.seconds;
    if (passes < kFewestPasses) continue;
    constexpr CauseDetail detail = CauseDetail::optimizer_passes;
    Saving& saving = found.emplace_back(kernels.cause(SavingCause::unfused_optimizer, inputs, detail)).saving;
    saving.kind = SavingKind::fusion;
    saving.seconds *= 1 - kValuesOfAdam / (kValuesOfAPass * static_cast<double>(passes));
    saving.what = what_is_lost(SavingCause::unfused_optimizer, detail);
    saving.evidence = fmt::format("{} operations on all parameters take {}, {} of the kernel time", passes,
                                  duration(kernels_s), percent(kernels_s / steps.kernel_s));
  }
  return found;
}

}  // namespace roofline
