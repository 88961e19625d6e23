// Gradient checkpointing: the forward pass runs again within the backward pass.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Common signature of a kernel and its repetition. Lines differ: a backward launch has the line of its forward.
using Signature =
    std::tuple<std::string_view, std::string_view, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Signature signature_of(const StepActivities& steps, const StepActivity& kernel) {
  return {kernel.symbol,       steps.trace(kernel).text(kernel.place.module),
          kernel.kind.grid[0], kernel.kind.grid[1],
          kernel.kind.grid[2], kernel.kind.block[0]};
}

struct Passes {
  std::vector<const StepActivity*> forward, backward;
};

/// Minimum run of kernels in forward order, including a product, that is not a coincidence.
constexpr std::size_t kFewestInOrder = 4;

bool is_forward_again(const std::vector<const StepActivity*>& backward, std::size_t begin, std::size_t length) {
  if (length < kFewestInOrder) return false;
  std::set<std::string_view> symbols;
  bool product = false;
  for (std::size_t i = begin; i < begin + length; ++i) {
    symbols.insert(backward[i]->symbol);
    product = product || is_product(backward[i]->symbol);
  }
  return product && symbols.size() > 1;
}

/// Kernels of the backward pass that repeat a part of the forward pass.
std::vector<const StepActivity*> repeated(const StepActivities& steps, const Passes& passes) {
  std::multimap<Signature, std::size_t> places;
  std::vector<Signature> forward, backward;
  for (const StepActivity* kernel : passes.forward) {
    places.emplace(signature_of(steps, *kernel), forward.size());
    forward.push_back(signature_of(steps, *kernel));
  }
  for (const StepActivity* kernel : passes.backward) backward.push_back(signature_of(steps, *kernel));
  std::vector<const StepActivity*> found;
  for (std::size_t at = 0; at < backward.size();) {
    constexpr int kMostTried = 64;  // repeated blocks without names of modules look alike
    std::size_t longest = 0;
    int tried = 0;
    const auto [first, last] = places.equal_range(backward[at]);
    for (auto place = first; place != last && tried < kMostTried; ++place, ++tried) {
      std::size_t length = 0;
      while (at + length < backward.size() && place->second + length < forward.size() &&
             backward[at + length] == forward[place->second + length]) {
        ++length;
      }
      longest = std::max(longest, length);
    }
    if (is_forward_again(passes.backward, at, longest)) {
      for (std::size_t i = at; i < at + longest; ++i) found.push_back(passes.backward[i]);
      at += longest;
    } else {
      ++at;
    }
  }
  return found;
}

}  // namespace

std::vector<FoundCause> find_checkpointing(const CauseInputs& inputs) {
  constexpr double kShareOfSteps = 0.5;
  const StepActivities& steps = inputs.steps;
  std::map<std::tuple<int, int, std::size_t>, Passes> all;
  double forward_s = 0, backward_s = 0;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    Passes& passes = all[{entry.activity->process, entry.activity->device, entry.step}];
    const bool backward = entry.place.backward != 0;
    (backward ? passes.backward : passes.forward).push_back(&entry);
    (backward ? backward_s : forward_s) += entry.seconds;
  }
  FaultyActivities sum;
  FoundCause found;
  for (const auto& [step, passes] : all) {
    for (const StepActivity* kernel : repeated(steps, passes)) {
      if (!inputs.free(*kernel)) continue;
      sum.add(steps, *kernel, kernel->seconds);
      found.activities.insert(kernel->activity);
    }
  }
  if (sum.share_of_steps() < kShareOfSteps || !(forward_s > 0)) return {};
  Saving& saving = found.saving;
  saving.kind = SavingKind::kernel;
  saving.cause = SavingCause::checkpointing;
  saving.line = sum.line();
  saving.seconds = sum.seconds;
  saving.point = sum.group();
  saving.what = "Gradient checkpointing runs the forward pass again";
  saving.evidence =
      fmt::format("{} kernels of the forward pass, {}, run again in the backward pass, which takes {} its time",
                  count(sum.count), duration(sum.seconds), factor(backward_s / forward_s));
  saving.action =
      "Checkpoint fewer modules if memory allows, or only those whose activations are large and cheap to compute.";
  std::vector<FoundCause> list;
  list.push_back(std::move(found));
  return list;
}

}  // namespace roofline
