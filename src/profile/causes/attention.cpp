// Attention as separate kernels: a product, elementwise kernels and a softmax, and the next product. Attention in one
// kernel that is given a mask as a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

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

/// The text of the call that begins at the line of a kernel; empty where it is not known.
std::string call_text(const CauseInputs& inputs, const StepActivity& kernel) {
  constexpr std::int64_t kMostLines = 12;
  std::string text;
  for (std::int64_t line = 0; line < kMostLines; ++line) {
    text += source_line(inputs, kernel, line) + ' ';
    const auto open = std::ranges::count(text, '('), closed = std::ranges::count(text, ')');
    if (open > 0 && open <= closed) break;
  }
  return text;
}

/// The arguments of a call after its opening bracket.
std::vector<std::string_view> arguments_of(std::string_view call) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < call.size(); ++i) {
    const char c = call[i];
    depth += c == '(' || c == '[' ? 1 : 0;
    const bool closes = c == ')' || c == ']';
    if (depth == 0 && (c == ',' || closes)) {
      arguments.push_back(trimmed(call.substr(begin, i - begin)));
      begin = i + 1;
      if (closes) break;
    }
    depth -= closes ? 1 : 0;
  }
  return arguments;
}

}  // namespace

bool may_have_mask(std::string_view symbol, std::string_view call) {
  // FlashAttention's kernels have no argument for a mask; cuDNN's, which are named after it, do. An object such as
  // causal_lower_right() then stands for a causal mask without values.
  if (contains_any(symbol, {"flash_fwd", "flash_bwd", "FlashAttnFwd", "FlashAttnBwd"})) return false;
  const bool memory_efficient = contains_any(symbol, {"fmha_cutlass"});
  return !contains_any(call, {"causal_upper_left("}) &&
         !(memory_efficient && contains_any(call, {"causal_lower_right("}));
}

bool gives_mask(std::string_view call) {
  constexpr std::string_view kAttention = "scaled_dot_product_attention(", kMask = "attn_mask=";
  constexpr std::size_t kFourth = 3;
  const std::size_t at = call.find(kAttention);
  if (at == std::string_view::npos) return false;
  const std::vector<std::string_view> arguments = arguments_of(call.substr(at + kAttention.size()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view given = arguments[i];
    const bool named = given.starts_with(kMask);
    if (named) given.remove_prefix(kMask.size());
    if ((named || (i == kFourth && given.find('=') == std::string_view::npos)) && given != "None") return true;
  }
  return false;
}

std::vector<FoundCause> find_masked_attention(const CauseInputs& inputs) {
  constexpr double kLeastShare = 0.2;  // of the kernels' time
  constexpr double kAboveDiagonal = 0.5;
  std::map<const spool::Line*, std::string> lines;  // calls with a mask
  std::vector<FoundCause> found;
  for (const auto& [line, kernels] : faulty_kernels_by_line(inputs, [&](const StepActivity& entry) {
         if (!is_attention(entry.symbol) || entry.place.line == 0) return false;
         const auto [known, added] = lines.try_emplace(&inputs.steps.trace(entry).line(entry.place.line));
         if (added) {
           const std::string call = call_text(inputs, entry);
           known->second = gives_mask(call) ? call : std::string();
         }
         return !known->second.empty() && may_have_mask(entry.symbol, known->second);
       })) {
    if (kernels.sum.seconds < kLeastShare * inputs.steps.kernel_s) continue;
    FoundCause& cause = found.emplace_back(kernels.cause(SavingCause::masked_attention, inputs));
    cause.saving.seconds *= kAboveDiagonal;
    cause.in_part = true;
    cause.saving.what = "Attention is given its mask as a tensor";
    cause.saving.evidence =
        kernels.amount(inputs.steps, "attention kernels") + "; half of it is above the diagonal of a causal mask";
  }
  return found;
}

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
