#include "profile/idle/idle_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "text/format.hpp"
#include "text/source_place.hpp"

namespace roofline {
namespace {

void merge(IdleSums::Sum& into, const IdleSums::Sum& from) {
  into.seconds += from.seconds;
  into.gaps.insert(into.gaps.end(), from.gaps.begin(), from.gaps.end());
  for (const auto& [line, time] : from.lines) into.lines[line] += time;
  for (const auto& [call, time] : from.calls) into.calls[call] += time;
  for (const auto& [fact, time] : from.facts) into.facts[fact] += time;
}

std::string evidence_of(const IdleSums::Sum& sum) {
  std::string text = fmt::format("{} gap{}, median {}", count(static_cast<std::int64_t>(sum.gaps.size())),
                                 sum.gaps.size() == 1 ? "" : "s", duration(median(sum.gaps)));
  if (const std::string call = key_of_largest(sum.calls); !call.empty()) text += fmt::format("; {}", call);
  if (const std::string fact = key_of_largest(sum.facts); !fact.empty()) text += fmt::format("; {}", fact);
  const std::string line = sum.line();
  const auto found = sum.lines.find(line);
  if (sum.lines.size() > 1 && found != sum.lines.end()) {
    text += fmt::format("; {} at this line, the rest at {} other{}", percent(found->second / sum.seconds),
                        sum.lines.size() - 1, sum.lines.size() == 2 ? "" : "s");
  }
  return text;
}

}  // namespace

std::string IdleSums::Sum::line() const { return key_of_largest(lines); }

IdleSums::Sum& IdleSums::add(const IdleShare& share) {
  Sum& sum = sums_[{share.device, share.cause, share.detail, share.group}];
  sum.seconds += share.seconds;
  if (!share.line.empty()) sum.lines[share.line] += share.seconds;
  if (sum.gaps.empty() || sum.last_gap != share.gap) sum.gaps.push_back(share.gap_s);
  sum.last_gap = share.gap;
  return sum;
}

void IdleSums::rename(int device, SavingCause from, const std::string& line, SavingCause to, CauseDetail detail) {
  const auto found = sums_.find({device, from, CauseDetail::none, line});
  if (found == sums_.end()) return;
  merge(sums_[{device, to, detail, line}], found->second);
  sums_.erase(found);
}

void IdleSums::join_host_code() {
  constexpr double kGoodPart = 0.1;
  const auto of_host = [](SavingCause cause) {
    return cause == SavingCause::data_loading || cause == SavingCause::host_python || cause == SavingCause::host_native;
  };
  std::map<std::tuple<int, CauseDetail, std::string>, std::vector<std::map<Key, Sum>::iterator>> functions;
  for (auto of = sums_.begin(); of != sums_.end(); ++of) {
    const auto& [device, cause, detail, group] = of->first;
    if (of_host(cause) && !group.empty()) functions[{device, detail, group}].push_back(of);
  }
  for (auto& [function, parts] : functions) {
    const auto largest = *std::max_element(
        parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a->second.seconds < b->second.seconds; });
    for (const auto& part : parts) {
      if (part == largest) continue;
      const auto line = largest->second.lines.find(part->second.line());
      if (line == largest->second.lines.end() || line->second < kGoodPart * largest->second.seconds) continue;
      merge(largest->second, part->second);
      sums_.erase(part);
    }
  }
}

void IdleSums::gather_at_lines_of(CauseDetail detail) {
  constexpr double kNearlyAll = 0.8;
  // By device and line of the file: samples know the class of a function, launches do not.
  std::map<std::pair<int, std::string>, Sum*> wholes;
  for (auto& [key, sum] : sums_) {
    const std::string line = sum.line();
    if (std::get<2>(key) != detail || line.empty()) continue;
    Sum*& whole = wholes[{std::get<0>(key), std::string(line_of_place(line))}];
    if (whole == nullptr || sum.seconds > whole->seconds) whole = &sum;
  }
  for (auto of = sums_.begin(); of != sums_.end();) {
    Sum& sum = of->second;
    const std::string line = sum.line();
    const auto whole = wholes.find({std::get<0>(of->first), std::string(line_of_place(line))});
    const bool moves = whole != wholes.end() && whole->second != &sum && sum.lines.at(line) >= kNearlyAll * sum.seconds;
    if (moves) merge(*whole->second, sum);
    of = moves ? sums_.erase(of) : std::next(of);
  }
}

std::vector<IdlePart> IdleSums::parts() const {
  constexpr double kSmall = 0.1;  // of the cause's time
  std::map<std::tuple<int, SavingCause, CauseDetail>, std::vector<const Sum*>> causes;
  for (const auto& [key, sum] : sums_) {
    causes[{std::get<0>(key), std::get<1>(key), std::get<2>(key)}].push_back(&sum);
  }
  std::vector<IdlePart> parts;
  for (auto& [key, sums] : causes) {
    std::stable_sort(sums.begin(), sums.end(), [](const Sum* a, const Sum* b) { return a->seconds > b->seconds; });
    double total = 0;
    for (const Sum* sum : sums) total += sum->seconds;
    std::vector<Sum> kept;
    for (const Sum* sum : sums) {
      if (kept.empty() || sum->seconds >= kSmall * total) {
        kept.push_back(*sum);
      } else {
        merge(kept.front(), *sum);
      }
    }
    for (const Sum& sum : kept) {
      if (!(sum.seconds > 0)) continue;
      const auto& [device, cause, detail] = key;
      parts.push_back({device, cause, sum.seconds, sum.line(), evidence_of(sum), detail});
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const IdlePart& a, const IdlePart& b) {
    return a.device != b.device ? a.device < b.device : a.seconds > b.seconds;
  });
  return parts;
}

}  // namespace roofline
