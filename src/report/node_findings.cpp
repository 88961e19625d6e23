// Comparisons among equals of one node. Thresholds are those at which an operator would look: a link that has lost one
// of its 18 lanes is 6 % slower, and single pairs of an undisturbed H200 node differ by 1 %.
#include "report/node_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "model/nan.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kLinkBehind = 0.10;
constexpr double kRoofBehind = 0.05;
constexpr double kWorthSaying = 0.03;  ///< of what falls when all work

/// The upper of the middle two, so that of two devices the better one is usual.
double upper_median(std::vector<double> values) {
  if (values.empty()) return kNaN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Whether a ceiling is below that share of what is usual, and its interval leaves no doubt.
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

/// The devices all of whose links are slow: where there are two others at least, it is theirs and not the others'.
std::set<int> slow_ports(const Node& node, const std::set<UnorderedPair>& slow) {
  std::map<int, std::size_t> links;
  for (const auto& [a, b] : slow) ++links[a], ++links[b];
  std::set<int> devices;
  for (const auto& [device, count] : links) {
    if (node.machines.size() > 2 && count == node.machines.size() - 1) devices.insert(device);
  }
  // Where every device is such, no one is.
  if (devices.size() > 1) devices.clear();
  return devices;
}

/// How slow the worst of a link's ceilings is, of what is usual: 1 where none falls behind.
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
                        ceiling_value(usual, kind));
  }
  return text;
}

void say_links(const Node& node, Findings& said) {
  const std::set<UnorderedPair> slow = slow_pairs(node);
  const std::set<int> ports = slow_ports(node, slow);
  for (const int device : ports) {
    double least = 1;
    for (const Link& link : node.links) {
      if (link.from == device || link.to == device) least = std::min(least, worst_share(node, link));
    }
    said.push_back({FindingKind::slow_device_links,
                    fmt::format("All links of {} are slow, down to {} of those between the other GPUs.",
                                gpu_name(device), percent(least))});
  }
  for (const UnorderedPair& pair : slow) {
    if (ports.contains(pair.first) || ports.contains(pair.second)) continue;
    const auto worst = [&](int from, int to) {
      const Link* link = node.link(from, to);
      return link == nullptr ? 1 : worst_share(node, *link);
    };
    said.push_back({FindingKind::slow_link,
                    fmt::format("Link {}\u2013{} is slow, down to {} of the others: {}.", pair.first, pair.second,
                                percent(std::min(worst(pair.first, pair.second), worst(pair.second, pair.first))),
                                slow_figures(node, pair))});
  }
  std::string unreachable;
  for (const Link& link : node.links) {
    const Link* back = node.link(link.to, link.from);
    const bool said_already = link.from > link.to && back != nullptr && back->kind == LinkKind::none;
    if (link.kind != LinkKind::none || said_already) continue;
    unreachable += fmt::format("{}{}\u2013{}", unreachable.empty() ? "" : ", ", link.from, link.to);
  }
  if (!unreachable.empty()) {
    said.push_back({FindingKind::no_peer_access,
                    fmt::format("No access to each other's memory: {}. What they exchange goes through the host's.",
                                unreachable)});
  }
}

void say_roofs(const Node& node, Findings& said) {
  for (const Machine& machine : node.machines) {
    std::string slow;
    for (const Ceiling& ceiling : machine.ceilings) {
      if (ceiling.role != Role::roof || !falls_behind(node, machine, ceiling)) continue;
      slow +=
          fmt::format("{}{} is {} below the other GPUs", slow.empty() ? "" : ", ", clean_line(ceiling_label(ceiling)),
                      percent(1 - ceiling.value / usual_roof(node, machine, ceiling)));
    }
    if (!slow.empty())
      said.push_back({FindingKind::slow_device, fmt::format("{} alone: {}.", gpu_name(machine.device.index), slow)});
  }
}

std::string label_of(const SharedCeiling& shared) {
  return clean_line(shared.name) + (shared.regime == Regime::sustained ? " (sustained)" : "");
}

/// What clock and sensors say of why it falls; empty where they say nothing.
std::string why(const SharedCeiling& shared) {
  const LoadedRate &alone = shared.alone, &together = shared.together;
  std::string text;
  if (together.limiter && !together.limiter->empty() && together.limiter != alone.limiter)
    text = clean_line(*together.limiter);
  if (alone.core_hz && together.core_hz && *together.core_hz < 0.99 * *alone.core_hz) {
    text += fmt::format("{}its clock goes from {} to {}", text.empty() ? "" : ", ", si(*alone.core_hz, "Hz"),
                        si(*together.core_hz, "Hz"));
  }
  return text;
}

bool worth_saying(const SharedCeiling& shared) { return shared.falls() && shared.ratio() < 1 - kWorthSaying; }

void say_together(const Node& node, Findings& said) {
  std::vector<std::pair<std::string, std::vector<const SharedCeiling*>>> by_ceiling;
  for (const SharedCeiling& shared : node.together) {
    const std::string label = label_of(shared);
    if (by_ceiling.empty() || by_ceiling.back().first != label)
      by_ceiling.emplace_back(label, std::vector<const SharedCeiling*>());
    by_ceiling.back().second.push_back(&shared);
  }
  for (auto& [label, all] : by_ceiling) {
    std::vector<const SharedCeiling*> falling;
    std::copy_if(all.begin(), all.end(), std::back_inserter(falling),
                 [](const SharedCeiling* shared) { return worth_saying(*shared); });
    if (falling.empty()) continue;
    const auto by_ratio = [](const SharedCeiling* a, const SharedCeiling* b) { return a->ratio() < b->ratio(); };
    std::sort(falling.begin(), falling.end(), by_ratio);
    const bool everyone = falling.size() == all.size() && all.size() > 2;
    if (everyone) {
      const SharedCeiling& worst = *falling.front();
      const std::string cause = why(worst);
      said.push_back({FindingKind::shared_drop,
                      fmt::format("{} falls on all GPUs when all work, by {} to {}{}.", label,
                                  percent(1 - falling.back()->ratio()), percent(1 - worst.ratio()),
                                  cause.empty() ? "" : " (" + gpu_name(worst.device) + ": " + cause + ")")});
      continue;
    }
    for (const SharedCeiling* shared : falling) {
      const std::string cause = why(*shared);
      said.push_back(
          {FindingKind::shared_drop,
           fmt::format("{} falls by {} in {} when all work ({} alone, {} together){}.", gpu_name(shared->device),
                       percent(1 - shared->ratio()), label, ceiling_value(shared->alone.value, shared->kind),
                       ceiling_value(shared->together.value, shared->kind), cause.empty() ? "" : ": " + cause)});
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
  return upper_median(std::move(values));
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
  return upper_median(std::move(values));
}

bool falls_behind(const Node& node, const Machine& machine, const Ceiling& ceiling) {
  return below(ceiling, usual_roof(node, machine, ceiling), kRoofBehind);
}

Findings node_findings(const Node& node) {
  Findings said;
  if (node.cancelled)
    said.push_back({FindingKind::cancelled, "The calibration was cancelled: what is missing was not measured."});
  for (const Unmeasured& missing : node.unmeasured) {
    // Single ceilings are in the list of what was not measured.
    if (whole_part(missing) && !missing.cancelled()) {
      said.push_back({FindingKind::not_measured,
                      fmt::format("Not measured: {}: {}.", clean_line(missing.name), clean_line(missing.reason))});
    }
  }
  say_links(node, said);
  say_roofs(node, said);
  say_together(node, said);
  return said;
}

}  // namespace roofline
