#include "report/comparison/match_costs.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace roofline {
namespace {

/// Identity for matching: with the line, or with its file and function.
using CauseIdentity = std::tuple<SavingKind, std::optional<SavingCause>, std::string, std::string>;

CauseIdentity identity_of(const CauseCost& cause, bool with_number) {
  return {cause.kind, cause.cause, cause.kernel, with_number ? cause.line : without_line_number(cause.line)};
}

std::pair<std::string, std::string> identity_of(const HostCauseCost& cause, bool with_number) {
  return {cause.id, with_number ? cause.line : without_line_number(cause.line)};
}

CostChange cost_change(double before_s, double now_s, double visible_s) {
  if (!(before_s > 0) && now_s > 0) return CostChange::appeared;
  if (!(now_s > 0) && before_s > 0) return CostChange::gone;
  if (std::abs(now_s - before_s) < visible_s) return CostChange::same;
  return now_s > before_s ? CostChange::larger : CostChange::smaller;
}

template <class Entry>
void sort_by_difference(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::abs(a.difference_s()) > std::abs(b.difference_s());
  });
}

/// Pairs of indices: what has a partner, and what is left on each side.
template <class Cost>
class CauseMatcher {
 public:
  CauseMatcher(const std::vector<Cost>& before, const std::vector<Cost>& now)
      : before_(before), now_(now), partner_(now.size()), taken_(before.size(), false) {}

  /// The largest difference first.
  std::vector<ChangeOfCause<Cost>> changes(double visible_s) {
    match(true);
    match(false);
    std::vector<ChangeOfCause<Cost>> all;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const Cost* then = partner_[i] ? &before_[*partner_[i]] : nullptr;
      ChangeOfCause<Cost> change{.cause = now_[i], .now_s = now_[i].seconds};
      if (then != nullptr) change.before_s = then->seconds;
      if (then != nullptr) change.line_before = then->line;
      all.push_back(std::move(change));
    }
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (taken_[i]) continue;
      all.push_back({.cause = before_[i], .line_before = before_[i].line, .before_s = before_[i].seconds});
    }
    for (ChangeOfCause<Cost>& change : all) change.change = cost_change(change.before_s, change.now_s, visible_s);
    sort_by_difference(all);
    return all;
  }

 private:
  /// Matches unpaired causes with equal identity, larger with larger.
  void match(bool with_number) {
    using Key = decltype(identity_of(std::declval<const Cost&>(), with_number));
    std::map<Key, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (!taken_[i]) left[identity_of(before_[i], with_number)].first.push_back(i);
    }
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (!partner_[i]) left[identity_of(now_[i], with_number)].second.push_back(i);
    }
    for (auto& [identity, sides] : left) {
      sort_largest_first(sides.first, before_);
      sort_largest_first(sides.second, now_);
      for (std::size_t i = 0; i < std::min(sides.first.size(), sides.second.size()); ++i) {
        partner_[sides.second[i]] = sides.first[i];
        taken_[sides.first[i]] = true;
      }
    }
  }

  static void sort_largest_first(std::vector<std::size_t>& indices, const std::vector<Cost>& causes) {
    std::stable_sort(indices.begin(), indices.end(),
                     [&](std::size_t a, std::size_t b) { return causes[a].seconds > causes[b].seconds; });
  }

  const std::vector<Cost>& before_;
  const std::vector<Cost>& now_;
  std::vector<std::optional<std::size_t>> partner_;  ///< of each cause of now
  std::vector<bool> taken_;                          ///< true if a cause of before has a partner
};

}  // namespace

std::string without_line_number(const std::string& line) {
  for (std::size_t colon = line.find(':'); colon != std::string::npos; colon = line.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
    if (end > colon + 1 && (end == line.size() || line[end] == ' ')) return line.substr(0, colon) + line.substr(end);
  }
  return line;
}

std::vector<CauseChange> match_causes(const ProgramCost& before, const ProgramCost& now, double visible_s) {
  return CauseMatcher(before.causes, now.causes).changes(visible_s);
}

std::vector<HostCauseChange> match_host_causes(const ProgramCost& before, const ProgramCost& now, double visible_s) {
  return CauseMatcher(before.host_causes, now.host_causes).changes(visible_s);
}

std::vector<FunctionChange> match_functions(const ProgramCost& before, const ProgramCost& now, double visible_s) {
  std::map<std::string, FunctionChange> by_name;
  for (const FunctionCost& function : before.functions) by_name[function.name].before_s = function.seconds;
  for (const FunctionCost& function : now.functions) by_name[function.name].now_s = function.seconds;
  std::vector<FunctionChange> changes;
  for (auto& [name, change] : by_name) {
    change.name = name;
    // The number of samples of a function scatters by its square root.
    const double noise_s = 2 * std::sqrt(change.before_s * before.sample_s + change.now_s * now.sample_s);
    change.change = std::abs(change.difference_s()) < noise_s ? CostChange::same
                                                              : cost_change(change.before_s, change.now_s, visible_s);
    changes.push_back(std::move(change));
  }
  sort_by_difference(changes);
  return changes;
}

std::vector<KernelChange> match_kernels(const ProgramCost& before, const ProgramCost& now, double visible_s) {
  std::map<std::string, KernelChange> by_name;
  for (const KernelCost& kernel : before.kernels) {
    KernelChange& change = by_name[kernel.name];
    change.launches_before = kernel.launches;
    change.before_s = kernel.seconds;
  }
  for (const KernelCost& kernel : now.kernels) {
    KernelChange& change = by_name[kernel.name];
    change.launches_now = kernel.launches;
    change.now_s = kernel.seconds;
  }
  std::vector<KernelChange> changes;
  for (auto& [name, change] : by_name) {
    change.name = name;
    change.change = cost_change(change.before_s, change.now_s, visible_s);
    changes.push_back(std::move(change));
  }
  sort_by_difference(changes);
  return changes;
}

}  // namespace roofline
