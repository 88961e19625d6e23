// Reasons for an outlier: recorded facts that differ from the rest of its group.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "fleet/fleet.hpp"
#include "measure/statistics.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

/// A value is the group's norm if at least this share of its machines has it.
constexpr double kMost = 0.6;
constexpr double kAll = 0.95;
constexpr double kRare = 0.1;
constexpr double kOtherClock = 0.01;
constexpr float kHotter = 8;  ///< °C

struct Usual {
  std::string value;
  double share = 0;  ///< among the machines that record the fact
};

/// The norms of a group.
struct Usuals {
  std::map<std::string, Usual> facts;
  std::map<std::string_view, double> limiters;  ///< share of the machines whose clock it limited
  double recorded_limiters = 0;                 ///< share of the machines that record clock limits
  double hottest_c = 0;                         ///< median; 0 if not recorded
};

float hottest(const MachineSummary& summary) {
  float most = 0;
  for (const CeilingSummary& ceiling : summary.ceilings) {
    if (ceiling.temperature_c > most) most = ceiling.temperature_c;
  }
  return most;
}

std::set<std::string_view> limiters_of(const MachineSummary& summary) {
  std::set<std::string_view> all;
  for (const CeilingSummary& ceiling : summary.ceilings) {
    if (ceiling.limiter) all.insert(*ceiling.limiter);
  }
  return all;
}

Usuals usuals_of(const FleetGroup& group, const std::vector<MachineSummary>& machines) {
  std::map<std::string, std::unordered_map<std::string_view, std::size_t>> counts;
  std::vector<double> temperatures;
  Usuals usuals;
  const auto size = static_cast<double>(group.machines.size());
  for (const std::size_t machine : group.machines) {
    const MachineSummary& summary = machines[machine];
    for (const Attribute& fact : summary.facts) ++counts[fact.name][fact.value];
    if (const float most = hottest(summary); most > 0) temperatures.push_back(most);
    const auto limiters = limiters_of(summary);
    if (!limiters.empty()) usuals.recorded_limiters += 1 / size;
    for (const std::string_view limiter : limiters) usuals.limiters[limiter] += 1 / size;
  }
  for (const auto& [name, values] : counts) {
    std::size_t all = 0;
    for (const auto& [value, times] : values) all += times;
    const auto most = largest_entry(values);
    usuals.facts[name] = {std::string(most->first), static_cast<double>(most->second) / static_cast<double>(all)};
  }
  if (!temperatures.empty()) usuals.hottest_c = median(temperatures);
  return usuals;
}

/// True if a fact may explain a low value of the ceiling.
bool may_explain(const Attribute& fact, const Deviation& slow) {
  const std::optional<Level> level = level_of(slow.label);
  switch (parse_attribute_key(fact.name).value_or(AttributeKey::packages)) {
    case AttributeKey::pcie_link:
      return level == Level::pcie;
    case AttributeKey::ecc:
    case AttributeKey::memory_clock:
    case AttributeKey::memory_bus:
      return level == Level::hbm || level == Level::dram || level == Level::l2;
    case AttributeKey::power_limit:
    case AttributeKey::highest_core_clock:
      return level != Level::pcie;
    // Software explains launch overhead only; otherwise it is listed as a difference, not as a reason.
    case AttributeKey::driver:
    case AttributeKey::cuda_runtime:
    case AttributeKey::system:
      return slow.kind == CeilingKind::overhead;
    case AttributeKey::version:
      return false;
    default:
      return true;
  }
}

std::string others(double share) { return share >= kAll ? "others" : "most others"; }

void compare_facts(Outlier& outlier, const MachineSummary& summary, const Usuals& usuals) {
  for (const Attribute& fact : summary.facts) {
    const auto usual = usuals.facts.find(fact.name);
    if (usual == usuals.facts.end() || usual->second.share < kMost || usual->second.value == fact.value) continue;
    const bool bears = std::any_of(outlier.slow.begin(), outlier.slow.end(),
                                   [&](const Deviation& slow) { return may_explain(fact, slow); });
    (bears ? outlier.why : outlier.also)
        .push_back(
            fmt::format("{} {}, {} {}", fact.name, fact.value, others(usual->second.share), usual->second.value));
  }
}

/// The lowest clock relative to the group's median.
void compare_clocks(Outlier& outlier, const MachineSummary& summary, const FleetGroup& group) {
  double least = 1 - kOtherClock;
  std::string text;
  for (const Deviation& slow : outlier.slow) {
    const CeilingSummary* ceiling = summary.find(slow.label);
    const CeilingNorm* norm = find_by(group.norms, &CeilingNorm::label, slow.label);
    if (ceiling == nullptr || norm == nullptr || ceiling->core_hz <= 0 || norm->core_hz <= 0) continue;
    const double ratio = ceiling->core_hz / norm->core_hz;
    if (ratio > least) continue;
    least = ratio;
    text = fmt::format("core clock {:.0f} MHz in {}, others {:.0f} MHz", ceiling->core_hz / 1e6, slow.label,
                       norm->core_hz / 1e6);
  }
  if (!text.empty()) outlier.why.push_back(std::move(text));
}

void compare_heat(Outlier& outlier, const MachineSummary& summary, const Usuals& usuals) {
  for (const std::string_view limiter : limiters_of(summary)) {
    const auto usual = usuals.limiters.find(limiter);
    if (limiter.empty() || usuals.recorded_limiters < kMost || usual->second > kRare) continue;
    outlier.why.push_back(fmt::format("clock limited by {}, unlike the others", limiter));
  }
  const float most = hottest(summary);
  if (most > 0 && usuals.hottest_c > 0 && most >= usuals.hottest_c + kHotter) {
    outlier.why.push_back(fmt::format("{:.0f} °C, others {:.0f} °C", most, usuals.hottest_c));
  }
}

void name_neighbours(Outlier& outlier, const MachineSummary& summary) {
  for (const Deviation& slow : outlier.slow) {
    const CeilingSummary* ceiling = summary.find(slow.label);
    if (ceiling == nullptr || ceiling->contention.empty()) continue;
    outlier.why.push_back(fmt::format("{} while {} was measured", ceiling->contention, slow.label));
    return;
  }
}

void name_unrecorded(Outlier& outlier, const MachineSummary& summary) {
  const CeilingSummary* worst = summary.find(outlier.slow.front().label);
  if (worst == nullptr || worst->core_hz <= 0) outlier.unrecorded.emplace_back("core clock");
  if (summary.kind == DeviceKind::cpu) return;
  if (hottest(summary) <= 0) outlier.unrecorded.emplace_back("temperature");
  if (limiters_of(summary).empty()) outlier.unrecorded.emplace_back("clock limiters");
  for (const AttributeKey fact :
       {AttributeKey::power_limit, AttributeKey::ecc, AttributeKey::pcie_link, AttributeKey::driver}) {
    if (summary.fact(fact) == nullptr) outlier.unrecorded.emplace_back(name_of(fact));
  }
}

}  // namespace

void explain(FleetGroup& group, const std::vector<MachineSummary>& machines) {
  if (group.outliers.empty()) return;
  const Usuals usuals = usuals_of(group, machines);
  for (Outlier& outlier : group.outliers) {
    const MachineSummary& summary = machines[outlier.machine];
    compare_facts(outlier, summary, usuals);
    compare_clocks(outlier, summary, group);
    compare_heat(outlier, summary, usuals);
    name_neighbours(outlier, summary);
    name_unrecorded(outlier, summary);
  }
}

}  // namespace roofline
