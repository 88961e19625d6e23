#include "project/limits.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "model/spelling.hpp"
#include "project/projection.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, kLimitGroups> kGroups = {"memory", "cache", "compute", "latency"};

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::string_view to_string(LimitGroup group) { return spell(kGroups, group); }

LimitGroup limit_group(std::string_view roof) {
  if (roof == "latency") return LimitGroup::latency;
  if (starts_with_any(roof, {"hbm.", "dram."})) return LimitGroup::memory;
  return starts_with_any(roof, {"l1.", "l2.", "l3.", "shared."}) ? LimitGroup::cache : LimitGroup::compute;
}

std::vector<LimitChange> limit_changes(const Projection& projection) {
  std::map<std::pair<LimitGroup, LimitGroup>, LimitChange> changes;
  for (std::size_t i = 0; i < projection.rows.size(); ++i) {
    const ProjectedRow& row = projection.rows[i];
    if (!row.is_projected()) continue;
    const LimitGroup here = limit_group(row.limit_here), there = limit_group(row.limit_there);
    if (here == there) continue;
    LimitChange& change = changes[{here, there}];
    change.here = here;
    change.there = there;
    change.here_s += row.here_s * row.weight;
    change.rows.push_back(i);
  }
  std::vector<LimitChange> sorted;
  for (auto& [groups, change] : changes) {
    std::stable_sort(change.rows.begin(), change.rows.end(), [&](std::size_t a, std::size_t b) {
      const auto time = [&](std::size_t i) { return projection.rows[i].here_s * projection.rows[i].weight; };
      return time(a) > time(b);
    });
    sorted.push_back(std::move(change));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const LimitChange& a, const LimitChange& b) { return a.here_s > b.here_s; });
  return sorted;
}

}  // namespace roofline
