#include "profile/idle_savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "measure/statistics.hpp"
#include "profile/slow_steps.hpp"
#include "report/saving_order.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Parts with the same key form one potential saving.
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

/// The steady steps in two lists; slow ones must be few to be exceptional.
struct SplitSteps {
  std::vector<Span> usual, slow;
};

/// With more than `most` slow steps, the few that are far longer than all others, such as those with late compilation.
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
  constexpr std::size_t kFewest = 4;  // one in four at most
  constexpr std::size_t kFew = 3;
  std::vector<std::size_t> slow = slow_steps(found);
  std::erase_if(slow, [&](std::size_t step) { return found.all[step].apart; });
  SplitSteps steps = {found.steady(), {}};
  if (slow.size() > kFew) {
    std::vector<std::size_t> longest = longest_by_far(found, slow, kFew);
    if (!longest.empty()) slow = std::move(longest);
  }
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
  claim.detail = of.detail;
  claim.saving.general =
      of.detail == CauseDetail::none && (of.cause == SavingCause::host_python || of.cause == SavingCause::host_native);
  return claim;
}

double median_length(const std::vector<Span>& spans) {
  std::vector<double> lengths;
  lengths.reserve(spans.size());
  for (const Span& span : spans) lengths.push_back(seconds(span.length()));
  return median(std::move(lengths));
}

/// Launches take time in all steps, so those of slow steps are not a separate cause.
bool of_launches(SavingCause cause) { return of_launching(cause) || cause == SavingCause::between_kernels; }

/// Excess loss of slow steps at one line.
struct LostAtLine {
  double seconds = 0, largest_s = 0;
  SavingCause cause = SavingCause::unknown_idle;  ///< of the largest part
  bool saves_state = false;
  std::string evidence;
};

/// A profiler that writes now and then what it has recorded in all steps.
bool in_all(const SumsOfParts& usual, SavingCause cause) {
  return cause == SavingCause::profiler_on && std::any_of(usual.begin(), usual.end(), [cause](const auto& part) {
           return part.first.cause == cause && part.second.seconds > 0;
         });
}

/// The idle time that slow steps have more than the others; what they have in common with them is added to `usual`.
std::vector<SavingClaim> slow_claims(const SplitSteps& steps, const SumsOfParts& slow, SumsOfParts& usual,
                                     Framework framework) {
  constexpr double kGoodPart = 0.3;  // of what the slow steps take longer
  const auto count = static_cast<double>(steps.slow.size());
  const double as_usual = count / static_cast<double>(steps.usual.size());
  const double usual_s = median_length(steps.usual);
  const double longer = seconds(total_length(steps.slow)) - count * usual_s;
  std::map<std::string, LostAtLine> lines;
  std::vector<SavingClaim> claims;
  for (const auto& [of, sum] : slow) {
    SumOfParts& same = usual[of];
    if (same.evidence.empty()) same.evidence = sum.evidence;
    const double expected = std::min(sum.seconds, same.seconds * as_usual);
    const double excess = sum.seconds - expected;
    // Time that is larger in the other steps does not explain slow ones.
    const bool of_all = of_launches(of.cause) || same.seconds >= excess;
    same.seconds += of_all ? sum.seconds : expected;
    if (of_all || !(excess > 0)) continue;
    // Events in several steps are recurring; late compilation occurs in one or two.
    const std::size_t several = of_loading(of.cause) ? 3 : 2;
    const bool one_off =
        steps.slow.size() < several && !in_all(usual, of.cause) && of.detail != CauseDetail::saved_state;
    claims.push_back(idle_claim(of, sum, excess, one_off, framework));
    if (!of_rare_work(of.cause) || of.line.empty()) continue;
    LostAtLine& at = lines[of.line];
    at.seconds += excess;
    at.saves_state |= of.detail == CauseDetail::saved_state;
    if (excess <= at.largest_s) continue;
    at.largest_s = excess;
    at.cause = of.cause;
    at.evidence = sum.evidence;
  }
  if (steps.slow.size() < 2) return claims;  // a single event
  for (const auto& [line, lost] : lines) {
    if (lost.seconds < kGoodPart * longer) continue;
    std::erase_if(claims, [&line = line](const SavingClaim& claim) {
      return claim.saving.line == line && of_rare_work(claim.saving.cause);
    });
    const PartKey whole = lost.saves_state ? PartKey{SavingCause::host_native, CauseDetail::saved_state, line}
                                           : PartKey{SavingCause::slow_steps, CauseDetail::none, line};
    SavingClaim claim = idle_claim(whole, {}, lost.seconds, false, framework);
    claim.saving.evidence =
        fmt::format("{} of {} steps take {} on average, the others {}; {} of the difference at this line: {}, {}",
                    steps.slow.size(), steps.slow.size() + steps.usual.size(), duration(usual_s + longer / count),
                    duration(usual_s), percent(lost.seconds / longer), what_is_lost(lost.cause), lost.evidence);
    claims.push_back(std::move(claim));
  }
  return claims;
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

/// Without steps, code loaded or compiled only in the first half belongs to the start-up.
std::vector<SavingClaim> savings_without_steps(const std::vector<Span>& active, const IdleParts& parts,
                                               Framework framework) {
  std::vector<SavingClaim> claims;
  const auto of_start = [](const auto& sum) { return of_loading(sum.first.cause); };
  const SumsOfParts all = sum_of(parts(active));
  SumsOfParts later;
  if (std::any_of(all.begin(), all.end(), of_start)) later = sum_of(parts(later_half(active)));
  for (const auto& entry : all) {
    const auto& [of, sum] = entry;
    double recurring = of_start(entry) ? std::min(sum.seconds, 2 * later[of].seconds) : sum.seconds;
    if (of.detail == CauseDetail::imports) recurring = 0;
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
    claims = slow_claims(steps, sum_of(parts(steps.slow)), usual, framework);
  }
  for (const auto& part : usual) {
    const auto& of = part.first;
    SavingClaim claim = idle_claim(of, part.second, part.second.seconds, false, framework);
    const auto of_slow = std::find_if(claims.begin(), claims.end(), [&](const SavingClaim& other) {
      return !other.saving.one_off && other.saving.cause == of.cause && other.detail == of.detail &&
             other.saving.line == of.line;
    });
    if (of_slow == claims.end()) {
      claims.push_back(std::move(claim));
    } else {
      if (claim.saving.seconds > of_slow->saving.seconds) of_slow->saving.evidence = claim.saving.evidence;
      of_slow->saving.seconds += claim.saving.seconds;
    }
  }
  return claims;
}

}  // namespace roofline
