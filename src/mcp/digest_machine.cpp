// Calibrations: the roofs of a device, and of a node.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// "4.7 TB/s", or the time of a launch or an access.
std::string value_of(const Json& ceiling) {
  const double value = number_fact_or(ceiling, "value", std::nan(""));
  const std::string kind = text_fact(ceiling, "kind");
  if (kind == "bandwidth") return si(value, "B/s");
  if (kind == "compute") return si(value, "FLOP/s");
  return duration(1 / value);
}

std::string ceiling_line(const Json& ceiling) {
  const std::string regime = text_fact(ceiling, "regime"), audit = text_fact(ceiling, "audit.status");
  std::string line = text_fact(ceiling, "name");
  if (!regime.empty() && regime != "burst") line += fmt::format(" ({})", regime);
  line += " " + value_of(ceiling);
  if (audit == "fail") line += " [suspect]";
  if (audit == "provisional") line += " [provisional]";
  return line;
}

/// As many on a line as fit: 60 ceilings are usual.
void list_ceilings(const Json& ceilings, const std::string& role, std::size_t offset, Digest& digest) {
  constexpr std::size_t kColumns = 180;
  std::string line;
  std::size_t at = 0;
  for (const Json& ceiling : ceilings) {
    const std::string own = text_fact(ceiling, "role");
    if ((own.empty() ? "roof" : own) != role || at++ < offset) continue;
    const std::string text = ceiling_line(ceiling);
    if (!line.empty() && line.size() + text.size() > kColumns) {
      digest.line(line);
      line.clear();
    }
    line += (line.empty() ? "" : "; ") + text;
  }
  digest.line(line);
  digest_offset(offset, at, "roofs", digest);
}

/// A line for each reason, with the number of roofs and the first of their names.
void list_unmeasured(const Json& unmeasured, Digest& digest) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Json& missing : unmeasured) {
    const std::string reason = text_fact(missing, "reason");
    const auto known = std::ranges::find(reasons, reason, [](const auto& entry) { return entry.first; });
    auto& names =
        known == reasons.end() ? reasons.emplace_back(reason, std::vector<std::string>()).second : known->second;
    names.push_back(text_fact(missing, "name"));
  }
  for (const auto& [reason, names] : reasons) {
    const auto named = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed));
    std::string what = fmt::format("{}", fmt::join(names.begin(), named, ", "));
    if (names.size() > kNamed) what = fmt::format("{} roofs ({}, ...)", names.size(), what);
    if (!digest.item(fmt::format("not measured: {}: {}", what, reason))) break;
  }
}

}  // namespace

void digest_machine(const Json& machine, std::size_t offset, Digest& digest) {
  const Json& ceilings = list_fact(machine, "ceilings");
  digest.line(fmt::format("{} ({}), measured at {}{}", text_fact(machine, "device.name"),
                          text_fact(machine, "device.kind"), text_fact(machine, "measured_at"),
                          flag_fact(machine, "cancelled") ? "; ended early, incomplete" : ""));
  if (ceilings.empty()) digest.line("no roof could be measured");
  std::map<std::string, int> earlier;
  for (const Json& ceiling : ceilings) {
    if (const std::string at = text_fact(ceiling, "measured_at"); !at.empty()) ++earlier[at];
  }
  for (const auto& [at, count] : earlier) {
    digest.line(
        fmt::format("of these, {} kept from the calibration at {}: no time for them in the later one", count, at));
  }
  list_ceilings(ceilings, "roof", offset, digest);
  list_unmeasured(list_fact(machine, "unmeasured"), digest);
}

void digest_node(const Json& node, Digest& digest) {
  const Json& machines = list_fact(node, "machines");
  digest.line(fmt::format("node {}: {} GPUs, measured at {}", text_fact(node, "host_name"), machines.size(),
                          text_fact(node, "measured_at")));
  if (!machines.empty()) {
    digest.line("roofs of the first GPU:");
    digest_machine(machines.front(), 0, digest);
  }
  for (const Json& row : list_fact(node, "together")) {
    const double ratio = number_fact_or(row, "ratio", 1);
    if (ratio > 0.97) continue;
    if (!digest.item(fmt::format("all GPUs at once: cuda:{:.0f} {} reaches {} of alone",
                                 number_fact_or(row, "device", 0), text_fact(row, "name"), percent(ratio)))) {
      break;
    }
  }
  for (const Json& link : list_fact(node, "links")) {
    std::string line = fmt::format("link {:.0f} to {:.0f} ({}): ", number_fact_or(link, "from", 0),
                                   number_fact_or(link, "to", 0), text_fact(link, "kind"));
    for (const Json& ceiling : list_fact(link, "ceilings")) line += ceiling_line(ceiling) + "; ";
    if (!digest.item(line)) break;
  }
}

}  // namespace roofline
