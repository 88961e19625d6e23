// Batches of rows that are padded to one length: all kernels of a step compute on the padding, too.
#include <fmt/format.h>

#include <map>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// The padded batches that one line copies to a GPU.
struct PaddedCopies {
  FaultyActivities sum;
  double values = 0, padding = 0;  ///< bytes

  double share() const { return values > 0 ? padding / values : 0; }
};

std::map<std::string, PaddedCopies> padded_copies(const StepActivities& steps) {
  const std::vector<CopySources> sources = copy_sources(steps.recording);
  std::map<std::string, PaddedCopies> lines;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::copy) continue;
    const auto process = static_cast<std::size_t>(entry.activity->process);
    const spool::Copy& copy = steps.copy(entry);
    const auto source = sources[process].find(copy.correlation);
    if (source == sources[process].end() || source->second->padding == 0) continue;
    PaddedCopies& of = lines[steps.line(entry)];
    of.sum.add(steps, entry, entry.seconds);
    of.values += static_cast<double>(copy.bytes);
    of.padding += static_cast<double>(copy.bytes) * source->second->padding / 1000;
  }
  return lines;
}

}  // namespace

std::vector<FoundCause> find_padding(const CauseInputs& inputs) {
  constexpr double kLeastPadding = 0.25, kShareOfSteps = 0.5;
  const StepActivities& steps = inputs.steps;
  const PaddedCopies* most = nullptr;
  std::string line;
  const std::map<std::string, PaddedCopies> lines = padded_copies(steps);
  for (const auto& [at, copies] : lines) {
    if (copies.share() < kLeastPadding || copies.sum.share_of_steps() < kShareOfSteps) continue;
    if (most != nullptr && copies.values <= most->values) continue;
    most = &copies;
    line = at;
  }
  if (most == nullptr) return {};
  // An optimizer works on parameters, whatever the batch.
  FaultyKernels kernels = faulty_kernels(inputs, [](const StepActivity& entry) {
    return !is_of_tensor_lists(entry.symbol) && !is_collective(entry.symbol);
  });
  if (kernels.sum.count == 0) return {};
  FoundCause found = kernels.cause(SavingCause::padding, inputs);
  found.in_part = true;
  found.saving.line = line;
  found.saving.seconds *= most->share() * most->sum.share_of_steps();
  found.saving.what =
      fmt::format("{} of the values in each batch are padding, and kernels compute on them", percent(most->share()));
  found.saving.evidence =
      fmt::format("{} copied batches whose rows end or begin with one repeated value, {} each", count(most->sum.count),
                  si(most->values / static_cast<double>(most->sum.count), "B"));
  return {std::move(found)};
}

}  // namespace roofline
