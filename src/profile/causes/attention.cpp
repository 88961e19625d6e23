// Attention as separate kernels: a product, elementwise kernels and a softmax, and the next product.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// The kernels of one stream since a product.
struct SinceProduct {
  bool product = false;
  const StepActivity* softmax = nullptr;
  std::vector<const StepActivity*> between;
};

struct Attention {
  FaultyActivities sum;
  std::set<const Activity*> activities;
  std::int64_t chains = 0;
};

}  // namespace

std::vector<FoundCause> find_unfused_attention(const CauseInputs& inputs) {
  constexpr std::size_t kMostBetween = 8;  // scale, mask, conversions, dropout
  constexpr double kShareOfSteps = 0.5;
  const StepActivities& steps = inputs.steps;
  std::map<std::tuple<int, int, std::uint32_t>, SinceProduct> streams;
  std::map<std::string, Attention> lines;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;  // such as a memset that a product needs
    SinceProduct& chain = streams[{entry.activity->process, entry.activity->device, entry.activity->stream}];
    if (is_product(entry.symbol)) {
      if (chain.softmax != nullptr) {
        Attention& attention = lines[steps.line(*chain.softmax)];
        ++attention.chains;
        for (const StepActivity* kernel : chain.between) {
          if (!inputs.free(*kernel)) continue;
          attention.sum.add(steps, *kernel, kernel->seconds);
          attention.activities.insert(kernel->activity);
        }
      }
      chain = {};
      chain.product = true;
      continue;
    }
    const bool softmax = is_softmax(entry.symbol);
    const bool fits = softmax || is_elementwise(entry.symbol) || is_conversion(entry.symbol);
    if (!chain.product || !fits || (softmax && chain.softmax != nullptr) || chain.between.size() == kMostBetween) {
      chain = {};
      continue;
    }
    if (softmax) chain.softmax = &entry;
    chain.between.push_back(&entry);
  }
  std::vector<FoundCause> found;
  for (auto& [line, attention] : lines) {
    if (attention.sum.share_of_steps() < kShareOfSteps) continue;
    Saving saving;
    saving.kind = SavingKind::fusion;
    saving.cause = SavingCause::unfused_attention;
    saving.line = line;
    saving.seconds = attention.sum.seconds;
    saving.point = attention.sum.group();
    saving.what = "Attention runs as separate kernels: product, softmax, product";
    saving.evidence =
        fmt::format("{} times in {} steps; {} kernels between the products take {}, {} of the kernel time",
                    count(attention.chains), steps.steps.size(), count(attention.sum.count),
                    duration(attention.sum.seconds), percent(attention.sum.seconds / steps.kernel_s));
    saving.action = action_against(SavingCause::unfused_attention, inputs.framework);
    found.push_back({std::move(saving), std::move(attention.activities)});
  }
  return found;
}

}  // namespace roofline
