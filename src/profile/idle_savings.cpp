#include "profile/idle_savings.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "profile/slow_steps.hpp"

namespace roofline {
namespace {

/// What parts have in common that are one potential saving.
struct PartKey {
  SavingCause cause = SavingCause::unknown_idle;
  CauseDetail detail = CauseDetail::none;
  std::string line;

  auto operator<=>(const PartKey&) const = default;
};

/// Parts of one cause and line, on all GPUs.
struct SumOfParts {
  double seconds = 0, largest_s = 0;
  std::string evidence;  ///< of the largest part
};
using SumsOfParts = std::map<PartKey, SumOfParts>;

SumsOfParts sum_of(const std::vector<IdlePart>& parts) {
  SumsOfParts sums;
  for (const IdlePart& part : parts) {
    SumOfParts& sum = sums[{part.cause, part.detail, part.line}];
    sum.seconds += part.seconds;
    if (part.seconds <= sum.largest_s) continue;
    sum.largest_s = part.seconds;
    sum.evidence = part.evidence;
  }
  return sums;
}

/// The uncounted steps in two lists. Slow ones are few, or they are no exception.
struct SplitSteps {
  std::vector<Span> usual, slow;
};

/// Where there are more than `most` slow steps, the few that are far longer than all others: code that was compiled
/// late.
std::vector<std::size_t> longest_by_far(const FoundSteps& found, std::vector<std::size_t> slow, std::size_t most) {
  constexpr std::uint64_t kFar = 10;
  const auto length = [&](std::size_t step) { return found.all[step].span.length(); };
  std::stable_sort(slow.begin(), slow.end(), [&](auto a, auto b) { return length(a) > length(b); });
  std::size_t few = std::min(most, slow.size() - 1);
  while (few > 0 && length(slow[few - 1]) < kFar * length(slow[few])) --few;
  slow.resize(few);
  std::sort(slow.begin(), slow.end());
  return slow;
}

SplitSteps split(const FoundSteps& found) {
  constexpr std::size_t kMostSlow = 3, kFewest = 10;  // one in ten at most
  std::vector<std::size_t> slow = slow_steps(found);
  SplitSteps steps = {found.uncounted(), {}};
  if (slow.size() > kMostSlow) slow = longest_by_far(found, std::move(slow), kMostSlow);
  if (slow.empty() || slow.size() * kFewest > steps.usual.size()) return steps;
  for (const std::size_t step : slow) {
    steps.slow.push_back(found.all[step].span);
    std::erase(steps.usual, found.all[step].span);
  }
  return steps;
}

SavingClaim idle_claim(const PartKey& of, const SumOfParts& sum, double seconds, bool one_off, Framework framework) {
  SavingClaim claim;
  claim.saving.kind = SavingKind::idle;
  claim.saving.cause = of.cause;
  claim.saving.line = of.line;
  claim.saving.one_off = one_off;
  claim.saving.seconds = seconds;
  claim.saving.what = what_is_lost(of.cause, of.detail);
  claim.saving.evidence = sum.evidence;
  claim.saving.action = action_against(of.cause, framework, of.detail);
  return claim;
}

/// The second half of that time.
std::vector<Span> later_half(const std::vector<Span>& spans) {
  std::uint64_t left = total_length(spans) / 2;
  std::vector<Span> later;
  for (Span span : spans) {
    const std::uint64_t skipped = std::min(left, span.length());
    left -= skipped;
    span.start += skipped;
    if (span.length() > 0) later.push_back(span);
  }
  return later;
}

/// Without steps, code that is loaded or compiled in the first half only belongs to the start-up.
std::vector<SavingClaim> savings_without_steps(const std::vector<Span>& active, const IdleParts& parts,
                                               Framework framework) {
  std::vector<SavingClaim> claims;
  const auto of_start = [](const auto& sum) {
    return sum.first.cause == SavingCause::module_load || sum.first.cause == SavingCause::recompilation;
  };
  const SumsOfParts all = sum_of(parts(active));
  SumsOfParts later;
  if (std::any_of(all.begin(), all.end(), of_start)) later = sum_of(parts(later_half(active)));
  for (const auto& entry : all) {
    const auto& [of, sum] = entry;
    const double recurring = of_start(entry) ? std::min(sum.seconds, 2 * later[of].seconds) : sum.seconds;
    if (recurring > 0) claims.push_back(idle_claim(of, sum, recurring, false, framework));
    if (sum.seconds > recurring) {
      claims.push_back(idle_claim(of, sum, sum.seconds - recurring, true, framework));
    }
  }
  return claims;
}

}  // namespace

std::vector<SavingClaim> idle_savings(const FoundSteps& found, const std::vector<Span>& active, const IdleParts& parts,
                                      Framework framework) {
  if (found.all.empty()) return savings_without_steps(active, parts, framework);
  std::vector<SavingClaim> claims;
  const SplitSteps steps = split(found);
  SumsOfParts usual = sum_of(parts(steps.usual));
  if (!steps.slow.empty()) {
    const double as_usual = static_cast<double>(steps.slow.size()) / static_cast<double>(steps.usual.size());
    for (const auto& [of, sum] : sum_of(parts(steps.slow))) {
      SumOfParts& same = usual[of];
      const double expected = std::min(sum.seconds, same.seconds * as_usual);
      // Code that is compiled in several steps is compiled again, and not late.
      constexpr std::size_t kSeveral = 3;
      const bool again = of.cause == SavingCause::recompilation && steps.slow.size() >= kSeveral;
      if (sum.seconds > expected) {
        claims.push_back(idle_claim(of, sum, sum.seconds - expected, !again, framework));
      }
      same.seconds += expected;
    }
  }
  for (const auto& [of, sum] : usual) {
    claims.push_back(idle_claim(of, sum, sum.seconds, false, framework));
  }
  return claims;
}

}  // namespace roofline
