// Compares like devices and links of one node. A link without one of its 18 lanes is 6 % slower; pairs of an idle H200
// node differ by 1 %. The thresholds lie between.
#include "report/node_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "measure/statistics.hpp"
#include "model/nan.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kLinkBehind = 0.10;
constexpr double kRoofBehind = 0.05;
constexpr double kVisibleDrop = 0.03;  ///< of a ceiling when all devices are loaded

/// True if a ceiling is below the norm by more than that share, beyond its interval.
bool below(const Ceiling& ceiling, double usual, double by) {
  const double high = std::isfinite(ceiling.ci95.high) ? ceiling.ci95.high : ceiling.value;
  return ceiling.value < (1 - by) * usual && high < (1 - by / 2) * usual;
}

/// "link.read" → "read".
std::string_view short_name(std::string_view name) { return name.substr(name.find('.') + 1); }

using UnorderedPair = std::pair<int, int>;

std::set<UnorderedPair> slow_pairs(const Node& node) {
  std::set<UnorderedPair> slow;
  for (const Link& link : node.links) {
    for (const std::string_view name : kLinkCeilings) {
      if (falls_behind(node, link, name)) slow.insert({std::min(link.from, link.to), std::max(link.from, link.to)});
    }
  }
  return slow;
}

/// Devices whose links are all slow: with at least two other devices, the fault is theirs.
std::set<int> slow_ports(const Node& node, const std::set<UnorderedPair>& slow) {
  std::map<int, std::size_t> links;
  for (const auto& [a, b] : slow) ++links[a], ++links[b];
  std::set<int> devices;
  for (const auto& [device, count] : links) {
    if (node.machines.size() > 2 && count == node.machines.size() - 1) devices.insert(device);
  }
  // With two of them the fault can't be assigned.
  if (devices.size() > 1) devices.clear();
  return devices;
}

/// The lowest of a link's ceilings as a share of the norm; 1 where none falls behind.
double worst_share(const Node& node, const Link& link) {
  double worst = 1;
  for (const std::string_view name : kLinkCeilings) {
    if (falls_behind(node, link, name)) worst = std::min(worst, link.find(name)->value / usual_link(node, link, name));
  }
  return worst;
}

/// "read by GPU 2 195 GB/s, by GPU 5 203 GB/s (usual: 390 GB/s); latency …", of what falls behind.
std::string slow_figures(const Node& node, const UnorderedPair& pair) {
  std::string text;
  for (const std::string_view name : kLinkCeilings) {
    std::string figures;
    double usual = kNaN;
    CeilingKind kind = CeilingKind::bandwidth;
    for (const auto& [from, to] : {pair, UnorderedPair{pair.second, pair.first}}) {
      const Link* link = node.link(from, to);
      if (link == nullptr || !falls_behind(node, *link, name)) continue;
      const Ceiling& ceiling = *link->find(name);
      usual = usual_link(node, *link, name);
      kind = ceiling.kind;
      figures += fmt::format("{} by {} {}", figures.empty() ? "" : ",", gpu_name(from), ceiling_value(ceiling));
    }
    if (figures.empty()) continue;
    text += fmt::format("{}{}{} (usual: {})", text.empty() ? "" : "; ", short_name(name), figures,
                        ceiling_value(usual, kind, {}));
  }
  return text;
}

void add_links(const Node& node, Findings& found) {
  const std::set<UnorderedPair> slow = slow_pairs(node);
  const std::set<int> ports = slow_ports(node, slow);
  for (const int device : ports) {
    double least = 1;
    for (const Link& link : node.links) {
      if (link.from == device || link.to == device) least = std::min(least, worst_share(node, link));
    }
    found.push_back({FindingKind::slow_device_links,
                     fmt::format("All links of {} are slow: down to {} of the links between the other GPUs.",
                                 gpu_name(device), percent(least))});
  }
  for (const UnorderedPair& pair : slow) {
    if (ports.contains(pair.first) || ports.contains(pair.second)) continue;
    const auto worst = [&](int from, int to) {
      const Link* link = node.link(from, to);
      return link == nullptr ? 1 : worst_share(node, *link);
    };
    found.push_back({FindingKind::slow_link,
                     fmt::format("Link {}\u2013{} is slow: down to {} of similar links ({}).", pair.first, pair.second,
                                 percent(std::min(worst(pair.first, pair.second), worst(pair.second, pair.first))),
                                 slow_figures(node, pair))});
  }
  std::string unreachable;
  for (const Link& link : node.links) {
    const Link* back = node.link(link.to, link.from);
    const bool listed_already = link.from > link.to && back != nullptr && back->kind == LinkKind::none;
    if (link.kind != LinkKind::none || listed_already) continue;
    unreachable += fmt::format("{}{}\u2013{}", unreachable.empty() ? "" : ", ", link.from, link.to);
  }
  if (!unreachable.empty()) {
    found.push_back({FindingKind::no_peer_access,
                     fmt::format("No peer access: {}. Their transfers are staged through host memory.", unreachable)});
  }
}

void add_roofs(const Node& node, Findings& found) {
  for (const Machine& machine : node.machines) {
    std::string slow;
    for (const Ceiling& ceiling : machine.ceilings) {
      if (ceiling.role != Role::roof || !falls_behind(node, machine, ceiling)) continue;
      slow +=
          fmt::format("{}{} is {} below the other GPUs", slow.empty() ? "" : ", ", clean_line(ceiling_label(ceiling)),
                      percent(1 - ceiling.value / usual_roof(node, machine, ceiling)));
    }
    if (!slow.empty())
      found.push_back(
          {FindingKind::slow_device, fmt::format("{} when measured alone: {}.", gpu_name(machine.device.index), slow)});
  }
}

/// The cause of a drop by clock and sensors; empty where they show none.
std::string why(const SharedCeiling& shared) {
  const LoadedRate &alone = shared.alone, &together = shared.together;
  std::string text;
  if (together.limiter && !together.limiter->empty() && together.limiter != alone.limiter)
    text = clean_line(*together.limiter);
  if (alone.core_hz && together.core_hz && *together.core_hz < 0.99 * *alone.core_hz) {
    text += fmt::format("{}clock {} instead of {}", text.empty() ? "" : ", ", si(*together.core_hz, "Hz"),
                        si(*alone.core_hz, "Hz"));
  }
  return text;
}

bool is_visible(const SharedCeiling& shared) { return shared.falls() && shared.ratio() < 1 - kVisibleDrop; }

void add_drops(const Node& node, Findings& found) {
  std::vector<std::pair<std::string, std::vector<const SharedCeiling*>>> by_ceiling;
  for (const SharedCeiling& shared : node.together) {
    const std::string label = ceiling_label(clean_line(shared.name), shared.regime);
    if (by_ceiling.empty() || by_ceiling.back().first != label)
      by_ceiling.emplace_back(label, std::vector<const SharedCeiling*>());
    by_ceiling.back().second.push_back(&shared);
  }
  for (auto& [label, all] : by_ceiling) {
    std::vector<const SharedCeiling*> falling;
    std::copy_if(all.begin(), all.end(), std::back_inserter(falling),
                 [](const SharedCeiling* shared) { return is_visible(*shared); });
    if (falling.empty()) continue;
    const auto by_ratio = [](const SharedCeiling* a, const SharedCeiling* b) { return a->ratio() < b->ratio(); };
    std::sort(falling.begin(), falling.end(), by_ratio);
    const bool everyone = falling.size() == all.size() && all.size() > 2;
    if (everyone) {
      const SharedCeiling& worst = *falling.front();
      const std::string cause = why(worst);
      found.push_back({FindingKind::shared_drop,
                       fmt::format("{} drops on all GPUs when all are loaded, by {} to {}{}.", label,
                                   percent(1 - falling.back()->ratio()), percent(1 - worst.ratio()),
                                   cause.empty() ? "" : " (" + gpu_name(worst.device) + ": " + cause + ")")});
      continue;
    }
    for (const SharedCeiling* shared : falling) {
      const std::string cause = why(*shared);
      found.push_back({FindingKind::shared_drop,
                       fmt::format("{} drops by {} in {} when all GPUs are loaded ({} alone, {} together){}.",
                                   gpu_name(shared->device), percent(1 - shared->ratio()), label,
                                   ceiling_value(shared->alone.value, shared->kind, shared->pipe()),
                                   ceiling_value(shared->together.value, shared->kind, shared->pipe()),
                                   cause.empty() ? "" : ": " + cause)});
    }
  }
}

bool same_path(const Link& a, const Link& b) {
  return a.kind == b.kind && a.nvlinks == b.nvlinks && (a.kind == LinkKind::nvlink || a.across == b.across);
}

}  // namespace

std::string gpu_name(int device) { return fmt::format("GPU {}", device); }

double usual_link(const Node& node, const Link& link, std::string_view name) {
  std::vector<double> values;
  for (const Link& other : node.links) {
    const Ceiling* ceiling = other.find(name);
    if (ceiling != nullptr && same_path(link, other)) values.push_back(ceiling->value);
  }
  return upper_median(std::move(values), kNaN);
}

bool falls_behind(const Node& node, const Link& link, std::string_view name) {
  const Ceiling* ceiling = link.find(name);
  return ceiling != nullptr && below(*ceiling, usual_link(node, link, name), kLinkBehind);
}

double usual_roof(const Node& node, const Machine& machine, const Ceiling& ceiling) {
  std::vector<double> values;
  for (const Machine& other : node.machines) {
    const Ceiling* same = other.device.name == machine.device.name ? other.find(ceiling.name, ceiling.regime) : nullptr;
    if (same != nullptr) values.push_back(same->value);
  }
  return upper_median(std::move(values), kNaN);
}

bool falls_behind(const Node& node, const Machine& machine, const Ceiling& ceiling) {
  return below(ceiling, usual_roof(node, machine, ceiling), kRoofBehind);
}

Findings node_findings(const Node& node) {
  Findings found;
  if (node.cancelled)
    found.push_back({FindingKind::cancelled, "The calibration was cancelled; missing values were not measured."});
  for (const Unmeasured& missing : node.unmeasured) {
    // Single ceilings are in the list of what was not measured.
    if (whole_part(missing) && !missing.cancelled()) {
      found.push_back({FindingKind::not_measured,
                       fmt::format("Not measured: {}: {}.", clean_line(missing.name), clean_line(missing.reason))});
    }
  }
  add_links(node, found);
  add_roofs(node, found);
  add_drops(node, found);
  return found;
}

}  // namespace roofline
