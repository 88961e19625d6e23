// Tensors that are grown by concatenation: each addition copies all that they hold. The source text tells them from
// other concatenations.
#include <algorithm>
#include <cctype>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/source_text.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// "cat" of "torch.cat" and "torch::cat".
std::string_view last_name(std::string_view callee) {
  const std::size_t end = callee.find_last_of(".:");
  return end == std::string_view::npos ? callee : callee.substr(end + 1);
}

/// "past[0], k], dim=2)" for k: keys or values of earlier tokens, by their name, and then the new ones.
bool is_cache_and_more(std::string_view items, std::string_view target) {
  const std::size_t comma = items.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view rest = trimmed(items.substr(comma + 1));
  const std::string_view second = rest.substr(0, rest.find_first_of(",)]}"));
  return contains_any(items.substr(0, comma), {"past", "cache", "Cache"}) && !second.empty() &&
         (trimmed(second) == target || second.starts_with("new"));
}

bool is_simple(char of) { return std::isalnum(static_cast<unsigned char>(of)) != 0 || of == '_'; }

/// Program lines by what their text says; without those that backward passes use, where writing in place is an error.
std::set<std::string> growing_lines(const CauseInputs& inputs) {
  constexpr double kLoop = 16;  // launches in a step; a network's skip connections are fewer
  std::map<std::string, double> launches;
  std::map<std::string, Growth> seen;
  std::set<std::string> differentiated;
  for (const StepActivity& entry : inputs.steps.all) {
    if (entry.activity->what != ActivityKind::kernel || entry.place.line == 0) continue;
    const std::string line = inputs.steps.line(entry);
    if (entry.place.backward != 0) differentiated.insert(line);
    ++launches[line];
    if (!seen.contains(line)) seen[line] = growth_at(source_line(inputs, entry));
  }
  std::set<std::string> found;
  for (const auto& [line, growth] : seen) {
    const bool often = launches[line] >= kLoop * static_cast<double>(inputs.steps.steps.size());
    const bool grows = growth == Growth::kept || (growth == Growth::local && often);
    if (grows && !differentiated.contains(line)) found.insert(line);
  }
  return found;
}

}  // namespace

Growth growth_at(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 >= text.size() || text[equals + 1] == '=') return Growth::none;
  const std::string_view target = trimmed(text.substr(0, equals)), value = trimmed(text.substr(equals + 1));
  const std::size_t call = value.find('(');
  if (target.empty() || call == std::string_view::npos) return Growth::none;
  constexpr std::string_view kCalls[] = {"cat", "concat", "concatenate", "append", "hstack", "vstack"};
  if (std::find(std::begin(kCalls), std::end(kCalls), last_name(value.substr(0, call))) == std::end(kCalls)) {
    return Growth::none;
  }
  const std::size_t item = value.find_first_not_of(" \t([{", call);
  if (item == std::string_view::npos) return Growth::none;
  if (is_cache_and_more(value.substr(item), target)) return Growth::kept;
  if (!value.substr(item).starts_with(target)) return Growth::none;
  const std::string_view rest = trimmed(value.substr(item + target.size()));
  if (!rest.starts_with(',')) return Growth::none;
  return std::all_of(target.begin(), target.end(), is_simple) ? Growth::local : Growth::kept;
}

std::vector<FoundCause> find_grown_tensors(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.05;  // of the steps
  constexpr double kSaved = 0.9;        // what is new is small beside the whole
  if (inputs.sources == nullptr) return {};
  const std::set<std::string> lines = growing_lines(inputs);
  if (lines.empty()) return {};
  const FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    return entry.place.line != 0 && !is_product(entry.symbol) && lines.contains(inputs.steps.line(entry));
  });
  if (kernels.sum.count == 0 || kernels.sum.seconds < kLeastShare * inputs.steps.total_s) return {};
  FoundCause found = kernels.cause(SavingCause::repeated_copy, inputs, CauseDetail::grown_tensors);
  found.saving.seconds *= kSaved;
  found.saving.what = what_is_lost(SavingCause::repeated_copy, CauseDetail::grown_tensors);
  found.saving.evidence = kernels.amount(inputs.steps, "kernels that copy the tensor and what is added");
  return {std::move(found)};
}

}  // namespace roofline
