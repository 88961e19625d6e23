// The number of machines on which each resource was judged: "no outlier" is meaningless for a roof judged on none.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "fleet/fleet.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

/// All bandwidths of a level or link are one resource, because kernels are limited by it under any of its patterns.
std::string_view resource_of(std::string_view label, CeilingKind kind) {
  return kind == CeilingKind::bandwidth ? label.substr(0, label.find('.')) : label;
}

}  // namespace

std::vector<JudgingGap> gaps_of(const FleetGroup& group, const std::vector<MachineSummary>& machines) {
  if (group.machines.size() < kFewestAlike) return {};
  std::vector<JudgingGap> gaps;
  std::unordered_map<std::string_view, std::size_t> gap_of_resource, gap_of_label;
  // Main memory is judged on every machine or missed: no device lacks it.
  const std::string_view memory = to_string(main_memory(machines[group.machines.front()].kind));
  gaps.push_back({.resource = memory, .main_memory = true});
  gap_of_resource.emplace(memory, 0);
  for (const CeilingNorm& norm : group.norms) {
    if (norm.role != Role::roof) continue;
    const std::string_view resource = resource_of(norm.label, norm.kind);
    const auto [found, added] = gap_of_resource.emplace(resource, gaps.size());
    if (added) gaps.push_back({.resource = resource});
    if (norm.threshold) gap_of_label.emplace(norm.label, found->second);
  }
  std::vector<bool> judged;
  for (const std::size_t machine : group.machines) {
    judged.assign(gaps.size(), false);
    for (const CeilingSummary& ceiling : machines[machine].ceilings) {
      if (ceiling.audit != CheckStatus::pass) continue;
      if (const auto found = gap_of_label.find(ceiling.label); found != gap_of_label.end())
        judged[found->second] = true;
    }
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i].judged += judged[i] ? 1 : 0;
  }
  std::erase_if(gaps, [&](const JudgingGap& gap) { return gap.judged == group.machines.size(); });
  std::stable_sort(gaps.begin(), gaps.end(), [](const JudgingGap& a, const JudgingGap& b) {
    return std::pair(!a.main_memory, a.judged) < std::pair(!b.main_memory, b.judged);
  });
  return gaps;
}

const JudgingGap* FleetGroup::worst_gap() const {
  return find_in(gaps, [&](const JudgingGap& gap) { return 2 * gap.judged < machines.size(); });
}

}  // namespace roofline
