// Groups machines of equal hardware. Memory is compared with a tolerance, because the usable size varies slightly. A
// power limit separates groups only if enough machines share it; a rare limit is a property of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "fleet/fleet.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using Machines = std::vector<std::size_t>;

/// Tolerance for equal memory, relative to the next smaller size.
constexpr double kSameMemory = 0.05;
/// Machines that must share a power limit to form a separate group.
constexpr double kClassShare = 0.05;

std::string power_limit(const MachineSummary& summary) {
  const std::string* limit = summary.fact(AttributeKey::power_limit);
  return limit != nullptr ? *limit : "";
}

std::vector<Machines> by_memory(Machines all, const std::vector<MachineSummary>& summaries) {
  std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(summaries[a].memory_bytes, a) < std::pair(summaries[b].memory_bytes, b);
  });
  std::vector<Machines> classes;
  double last = -1;
  for (const std::size_t machine : all) {
    const double bytes = summaries[machine].memory_bytes;
    if (classes.empty() || bytes > last * (1 + kSameMemory)) classes.emplace_back();
    classes.back().push_back(machine);
    last = bytes;
  }
  return classes;
}

/// Machines with a rare limit join the group of the most common one.
std::map<std::string, Machines> by_power_limit(const Machines& all, const std::vector<MachineSummary>& summaries) {
  std::map<std::string, Machines> classes;
  for (const std::size_t machine : all) classes[power_limit(summaries[machine])].push_back(machine);
  const auto common = std::max_element(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
                        return a.second.size() < b.second.size();
                      })->first;
  const auto enough = std::max(static_cast<double>(kFewestAlike), kClassShare * static_cast<double>(all.size()));
  for (auto it = classes.begin(); it != classes.end();) {
    const bool rare = it->first != common && static_cast<double>(it->second.size()) < enough;
    if (rare) {
      Machines& to = classes[common];
      to.insert(to.end(), it->second.begin(), it->second.end());
    }
    it = rare ? classes.erase(it) : std::next(it);
  }
  return classes;
}

std::string name_of(const MachineSummary& summary, const std::string& limit) {
  std::string name = summary.name;
  name += fmt::format(", {} {}", count(summary.units), summary.kind == DeviceKind::cuda ? "SMs" : "threads");
  if (summary.memory_bytes > 0) name += ", " + binary_bytes(summary.memory_bytes);
  if (!summary.isa.empty() && summary.kind == DeviceKind::cpu) name += ", " + summary.isa;
  if (!limit.empty()) name += ", " + limit;
  return name;
}

/// "driver 580: 1,990 machines, 570: 10".
std::string majors_note(const FleetGroup& group, const std::vector<MachineSummary>& summaries) {
  std::map<std::string, std::size_t> majors;
  for (const std::size_t machine : group.machines) {
    const std::string* driver = summaries[machine].fact(AttributeKey::driver);
    if (driver != nullptr) ++majors[driver->substr(0, driver->find('.'))];
  }
  if (majors.size() < 2) return {};
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [major, machines] : majors) order.emplace_back(machines, major);
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (const auto& [machines, major] : order) {
    text += fmt::format("{}{}: {}", text.empty() ? "driver " : ", ", major, count(static_cast<std::int64_t>(machines)));
  }
  return text;
}

}  // namespace

std::vector<FleetGroup> groups_of(const std::vector<MachineSummary>& machines) {
  std::map<std::tuple<DeviceKind, std::string, std::int64_t, std::string>, Machines> models;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const MachineSummary& summary = machines[i];
    models[{summary.kind, summary.name, summary.units, summary.isa}].push_back(i);
  }
  std::vector<FleetGroup> groups;
  for (const auto& [model, all] : models) {
    for (const Machines& alike : by_memory(all, machines)) {
      for (auto& [limit, members] : by_power_limit(alike, machines)) {
        FleetGroup group;
        group.machines = members;
        std::sort(group.machines.begin(), group.machines.end());
        group.name = name_of(machines[group.machines.front()], limit);
        if (std::string note = majors_note(group, machines); !note.empty()) group.notes.push_back(std::move(note));
        if (group.machines.size() < kFewestAlike) {
          group.notes.push_back(
              fmt::format("{} alike {} too few to compare ({} are needed)",
                          group.machines.size() == 1 ? "1 machine" : fmt::format("{} machines", group.machines.size()),
                          group.machines.size() == 1 ? "is" : "are", kFewestAlike));
        }
        groups.push_back(std::move(group));
      }
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const FleetGroup& a, const FleetGroup& b) { return a.machines.size() > b.machines.size(); });
  return groups;
}

}  // namespace roofline
