// Dense gradients of embeddings: every row is filled with zeros and updated, although a batch uses few of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// The gradients of the embeddings that one line looks up.
struct Gradients {
  FaultyKernels fills;
  double filled = 0;                          ///< bytes
  std::map<std::string_view, double> writes;  ///< bytes by kernel: first of parts of rows, then of rows

  /// Bytes of the rows that batches use, at most.
  double used() const {
    double most = 0;
    for (const auto& [symbol, bytes] : writes) most = std::max(most, bytes);
    return most;
  }
};

/// The line with the largest gradients.
std::pair<std::string, Gradients> largest_gradients(const CauseInputs& inputs) {
  std::map<std::string, Gradients> lines;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel || entry.place.backward == 0) continue;
    const bool gradient = is_dense_embedding_gradient(entry.symbol);
    if (!gradient && !is_fill(entry.symbol)) continue;
    Gradients& of = lines[inputs.steps.line(entry)];
    const double written = traffic_of_row(inputs.points, entry.activity->group, Level::hbm).write;
    if (gradient) {
      of.writes[entry.symbol] += written;
    } else if (inputs.free(entry)) {
      of.fills.add(inputs.steps, entry);
      of.filled += written;
    }
  }
  std::erase_if(lines, [](const auto& line) { return line.second.writes.empty(); });
  const auto largest = std::max_element(lines.begin(), lines.end(),
                                        [](const auto& a, const auto& b) { return a.second.filled < b.second.filled; });
  if (largest == lines.end()) return {};
  return {largest->first, std::move(largest->second)};
}

/// Updates of all parameters.
struct Updates {
  FaultyKernels kernels;
  std::set<std::string_view> operations;
  double bytes = 0;

  /// Read and written per parameter; without momentum three are.
  double values() const {
    const bool adam = std::any_of(operations.begin(), operations.end(),
                                  [](std::string_view symbol) { return symbol.find("Adam") != symbol.npos; });
    return adam ? kValuesOfAdam : std::max(3.0, kValuesOfAPass * static_cast<double>(operations.size()));
  }
};

Updates updates_of(const CauseInputs& inputs) {
  Updates updates;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel || !inputs.free(entry)) continue;
    if (!updates_lists(entry)) continue;
    updates.kernels.add(inputs.steps, entry);
    updates.operations.insert(entry.symbol);
    updates.bytes += traffic_of_row(inputs.points, entry.activity->group, Level::hbm).total();
  }
  return updates;
}

}  // namespace

std::vector<FoundCause> find_dense_embeddings(const CauseInputs& inputs) {
  constexpr double kLeast = 0.05, kMostlyUpdates = 0.6;  // of the kernel time
  constexpr double kMostUsed = 0.25, kNearlyAll = 0.8;
  const auto [line, gradients] = largest_gradients(inputs);
  if (gradients.writes.empty()) return {};
  Updates updates = updates_of(inputs);
  const double updates_s = updates.kernels.sum.seconds, kernels_s = inputs.steps.kernel_s;
  const bool counted = gradients.filled > 0 && gradients.used() > 0 && updates.bytes > 0;
  const double used = counted ? gradients.used() / gradients.filled : 0;
  // Without counters: nothing else would make updates take so long.
  const bool fault = counted ? used < kMostUsed : updates_s >= kMostlyUpdates * kernels_s;
  if (!fault || updates.kernels.sum.count == 0) return {};
  const double of_table = counted ? std::min(1.0, gradients.filled * updates.values() / updates.bytes) : 1;
  const std::string update_line = updates.kernels.sum.line();
  FoundCause found = updates.kernels.cause(SavingCause::unfused_optimizer, inputs, CauseDetail::dense_embedding);
  found.in_part = of_table < kNearlyAll;
  Saving& saving = found.saving;
  saving.kind = SavingKind::fusion;
  saving.what = what_is_lost(SavingCause::unfused_optimizer, CauseDetail::dense_embedding);
  saving.evidence = fmt::format("updates at {} take {}, {} of the kernel time", update_line, duration(updates_s),
                                percent(updates_s / kernels_s));
  if (counted) {
    saving.line = line;
    saving.seconds = (updates_s * of_table + gradients.fills.sum.seconds) * (1 - used);
    found.activities.insert(gradients.fills.activities.begin(), gradients.fills.activities.end());
    saving.evidence += fmt::format(
        ", {} of that for this embedding; of {} of gradients that a step fills with zeros, {} are of rows that it uses",
        percent(of_table), si(gradients.filled / static_cast<double>(inputs.steps.steps.size()), "B"), percent(used));
  }
  return saving.seconds < kLeast * kernels_s ? std::vector<FoundCause>() : std::vector{std::move(found)};
}

}  // namespace roofline
