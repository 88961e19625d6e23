// One unit a row, and for matrices one a table, so that figures line up.
#include "report/node_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "model/spelling.hpp"
#include "report/node_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The unit in which figures of one kind are shown side by side: latencies and overheads as times.
struct Scale {
  double factor = 1;
  bool inverse = false;
  std::string unit;

  std::string operator()(double value) const { return number((inverse ? 1 / value : value) * factor, 3); }
};

Scale scale_of(double typical, CeilingKind kind) {
  Scale scale;
  scale.inverse = kind == CeilingKind::latency || kind == CeilingKind::overhead;
  static constexpr std::array<std::pair<double, const char*>, 8> kPrefixes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}, {1e-3, "m"}, {1e-6, "\u00b5"}, {1e-9, "n"}}};
  const double shown = scale.inverse ? 1 / typical : typical;
  const auto prefix =
      std::find_if(kPrefixes.begin(), kPrefixes.end(), [shown](const auto& known) { return shown >= known.first; });
  const auto& [size, name] = prefix == kPrefixes.end() ? kPrefixes.back() : *prefix;
  scale.factor = 1 / size;
  scale.unit = name + std::string(scale.inverse ? "s" : kind == CeilingKind::bandwidth ? "B/s" : "FLOP/s");
  return scale;
}

std::string ceiling_title(const Ceiling& ceiling) {
  std::string title = ceiling_value(ceiling) + " " + plus_minus(ceiling.value, ceiling.ci95);
  if (ceiling.clocks.core_hz) title += " at " + si(*ceiling.clocks.core_hz, "Hz");
  if (!ceiling.variant.empty()) title += ", " + clean_line(ceiling.variant);
  if (ceiling.suspect()) title += "; suspect: its audit failed";
  return title;
}

/// A table with a column for each device, and no rows yet.
NodeTable device_table(const Node& node, std::string title, std::string note, std::string corner) {
  NodeTable table{
      .title = std::move(title), .note = std::move(note), .corner = std::move(corner), .columns = {}, .rows = {}};
  for (const Machine& machine : node.machines) table.columns.push_back(gpu_name(machine.device.index));
  return table;
}

NodeCell ceiling_cell(const Ceiling& ceiling, const Scale& scale, bool bad) {
  return {scale(ceiling.value) + (ceiling.suspect() ? "?" : ""), bad, ceiling_title(ceiling)};
}

/// Roofs in the order of the first device that has them.
std::vector<std::pair<std::string, Regime>> roof_names(const Node& node) {
  std::vector<std::pair<std::string, Regime>> names;
  for (const Machine& machine : node.machines) {
    for (const Ceiling& ceiling : machine.ceilings) {
      const std::pair name(ceiling.name, ceiling.regime);
      if (ceiling.role == Role::roof && !contains(names, name)) names.push_back(name);
    }
  }
  return names;
}

NodeTable roofs_table(const Node& node) {
  NodeTable table = device_table(node, "Roofs, each GPU alone", "", "roof");
  table.columns.insert(table.columns.begin(), "unit");
  for (const auto& [name, regime] : roof_names(node)) {
    std::optional<Scale> scale;
    NodeRow row;
    for (const Machine& machine : node.machines) {
      const Ceiling* ceiling = machine.find(name, regime);
      if (ceiling == nullptr) {
        row.cells.push_back({kAbsent});
        continue;
      }
      if (!scale) {
        scale = scale_of(ceiling->value, ceiling->kind);
        if (ceiling->pipe) scale->unit.replace(scale->unit.find("FLOP/s"), 6, unit_of(*ceiling->pipe));
        row.label = clean_line(ceiling_label(*ceiling));
      }
      row.cells.push_back(ceiling_cell(*ceiling, *scale, falls_behind(node, machine, *ceiling)));
    }
    row.cells.insert(row.cells.begin(), {scale->unit});
    table.rows.push_back(std::move(row));
  }
  const bool suspect = std::any_of(node.machines.begin(), node.machines.end(), [](const Machine& machine) {
    return std::any_of(machine.ceilings.begin(), machine.ceilings.end(),
                       [](const Ceiling& ceiling) { return ceiling.role == Role::roof && ceiling.suspect(); });
  });
  if (suspect) table.note = "?: the audit failed.";
  return table;
}

std::string rate_title(const LoadedRate& rate, const SharedCeiling& of) {
  std::string title = ceiling_value(rate.value, of.kind, of.pipe());
  if (rate.core_hz) title += " at " + si(*rate.core_hz, "Hz");
  if (rate.watts) title += ", " + si(*rate.watts, "W");
  if (rate.temperature_c) title += ", " + number(*rate.temperature_c, 2) + " \u00b0C";
  if (rate.limiter && !rate.limiter->empty()) title += ", " + clean_line(*rate.limiter);
  return title;
}

NodeTable together_table(const Node& node) {
  NodeTable table =
      device_table(node, "All GPUs loaded at once",
                   "Share of the rate of each GPU alone, measured just before with the other GPUs idle.", "ceiling");
  std::vector<std::pair<std::string, std::map<int, const SharedCeiling*>>> rows;
  for (const SharedCeiling& shared : node.together) {
    value_of_key(rows, ceiling_label(clean_line(shared.name), shared.regime))[shared.device] = &shared;
  }
  for (const auto& [label, devices] : rows) {
    NodeRow row{label, {}};
    for (const Machine& machine : node.machines) {
      const auto found = devices.find(machine.device.index);
      if (found == devices.end()) {
        row.cells.push_back({kAbsent});
        continue;
      }
      const SharedCeiling& shared = *found->second;
      row.cells.push_back(
          {percent(shared.ratio()), shared.falls(),
           fmt::format("{} of the ratio; alone {}; together {}", plus_minus(shared.ratio(), shared.ratio_ci95()),
                       rate_title(shared.alone, shared), rate_title(shared.together, shared))});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string link_title(std::string_view name) {
  if (name == "link.read") return "Links: a GPU (row) reads another's memory (column)";
  if (name == "link.write") return "Links: a GPU (row) writes to another's memory (column)";
  if (name == "link.both") return "Links: two GPUs write to each other at once, sum of both directions";
  if (name == "link.latency") return "Links: a GPU (row) waits for one access to another's L2 (column)";
  return "Links: " + clean_line(std::string(name));
}

std::optional<Scale> link_scale(const Node& node, std::string_view name) {
  std::vector<double> values;
  CeilingKind kind = CeilingKind::bandwidth;
  for (const Link& link : node.links) {
    const Ceiling* ceiling = link.find(name);
    if (ceiling == nullptr) continue;
    values.push_back(ceiling->value);
    kind = ceiling->kind;
  }
  if (values.empty()) return std::nullopt;
  return scale_of(upper_median(std::move(values)), kind);
}

/// A row for each device, with a cell for each that it may be linked to.
template <class CellOf>
void add_link_rows(NodeTable& table, const Node& node, const CellOf& cell_of) {
  for (const Machine& from : node.machines) {
    NodeRow row{gpu_name(from.device.index), {}};
    for (const Machine& to : node.machines) {
      const Link* link = node.link(from.device.index, to.device.index);
      const std::optional<NodeCell> cell = link == nullptr ? std::nullopt : cell_of(*link);
      row.cells.push_back(cell.value_or(NodeCell{&from == &to ? "" : kAbsent}));
    }
    table.rows.push_back(std::move(row));
  }
}

std::optional<NodeTable> link_table(const Node& node, std::string_view name) {
  const std::optional<Scale> scale = link_scale(node, name);
  if (!scale) return std::nullopt;
  NodeTable table = device_table(node, link_title(name), "In " + scale->unit + ".", "from");
  add_link_rows(table, node, [&](const Link& link) -> std::optional<NodeCell> {
    const Ceiling* ceiling = link.find(name);
    if (ceiling == nullptr) return std::nullopt;
    return ceiling_cell(*ceiling, *scale, falls_behind(node, link, name));
  });
  return table;
}

/// The words of `nvidia-smi topo -m` for where PCIe paths meet.
constexpr std::array<std::string_view, 6> kPathWords = {"board", "PIX", "PXB", "PHB", "NODE", "SYS"};

/// Abbreviation and its meaning.
std::pair<std::string, std::string> how_linked(const Link& link) {
  if (link.kind == LinkKind::none) return {"none", "no peer access"};
  if (link.kind == LinkKind::nvlink) {
    if (link.nvlinks == 0) return {"NVLink", "number of links unknown"};
    return {fmt::format("NV{}", link.nvlinks), fmt::format("{} NVLinks", link.nvlinks)};
  }
  if (!link.across) return {"PCIe", "PCIe path unknown"};
  return {std::string(spell(kPathWords, *link.across)), fmt::format("PCIe across {}", to_string(*link.across))};
}

std::optional<NodeTable> kinds_table(const Node& node) {
  if (node.links.empty()) return std::nullopt;
  std::map<std::string, std::string> meanings;
  NodeTable table = device_table(node, "Links between the GPUs", "", "from");
  add_link_rows(table, node, [&](const Link& link) -> std::optional<NodeCell> {
    const auto [word, meaning] = how_linked(link);
    meanings[word] = meaning;
    return NodeCell{word, false, meaning};
  });
  for (const auto& [word, meaning] : meanings) {
    table.note += fmt::format("{}{}: {}", table.note.empty() ? "" : "; ", word, meaning);
  }
  table.note += ".";
  return table;
}

/// The distance of a device's NUMA node to the others, in the order of the nodes; empty if unknown.
std::string distances_of(const Node& node, const DevicePlace& place) {
  const NodeTopology& topology = node.topology;
  if (!place.numa_node) return {};
  const auto at = std::find(topology.numa_nodes.begin(), topology.numa_nodes.end(), *place.numa_node);
  const auto row = static_cast<std::size_t>(at - topology.numa_nodes.begin());
  if (row >= topology.numa_distances.size()) return {};
  return fmt::format("{}", fmt::join(topology.numa_distances[row], " "));
}

std::optional<NodeTable> places_table(const Node& node) {
  if (node.topology.places.empty()) return std::nullopt;
  NodeTable table{.title = "PCIe and NUMA placement",
                  .note = {},
                  .corner = "GPU",
                  .columns = {"PCI address", "NUMA node", "distances", "near CPUs"},
                  .rows = {}};
  if (node.topology.numa_nodes.size() > 1) {
    table.note =
        fmt::format("Distances to NUMA nodes {}; 10 is the node itself.", fmt::join(node.topology.numa_nodes, ", "));
  }
  for (const DevicePlace& place : node.topology.places) {
    const auto or_absent = [](std::string text) { return text.empty() ? std::string(kAbsent) : text; };
    table.rows.push_back({gpu_name(place.device),
                          {{or_absent(clean_line(place.pci_address))},
                           {place.numa_node ? std::to_string(*place.numa_node) : kAbsent},
                           {or_absent(distances_of(node, place))},
                           {or_absent(clean_line(place.cpus))}}});
  }
  return table;
}

}  // namespace

std::string node_headline(const Node& node) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const Machine& machine : node.machines) {
    ++value_of_key(kinds, machine.device.name);
  }
  std::string text;
  for (const auto& [name, number_of] : kinds) {
    text += fmt::format("{}{} \u00d7 {}", text.empty() ? "" : ", ", number_of, clean_line(name));
  }
  if (text.empty()) text = "no GPU";
  if (!node.host_name.empty()) text = clean_line(node.host_name) + ": " + text;
  text += ", calibrated " + clean_line(node.measured_at);
  if (node.quick) text += " (quick)";
  if (node.cancelled) text += " (cancelled)";
  return text;
}

std::vector<NodeTable> link_tables(const Node& node) {
  std::vector<NodeTable> tables;
  for (const std::string_view name : kLinkCeilings) {
    if (auto table = link_table(node, name)) tables.push_back(std::move(*table));
  }
  return tables;
}

std::vector<NodeTable> node_tables(const Node& node) {
  std::vector<NodeTable> tables;
  const auto add = [&](std::optional<NodeTable> table) {
    if (table && !table->rows.empty()) tables.push_back(std::move(*table));
  };
  add(roofs_table(node));
  add(together_table(node));
  for (NodeTable& table : link_tables(node)) tables.push_back(std::move(table));
  add(kinds_table(node));
  add(places_table(node));
  return tables;
}

std::vector<std::string> node_unmeasured(const Node& node) {
  std::vector<std::string> lines;
  for (const Unmeasured& missing : node.unmeasured) {
    lines.push_back(clean_line(missing.name) + ": " + clean_line(missing.reason));
  }
  std::vector<std::pair<std::string, std::string>> links;  // the reason, and of which
  for (const Link& link : node.links) {
    for (const Unmeasured& missing : link.unmeasured) {
      std::string& which = value_of_key(links, clean_line(missing.reason));
      which += fmt::format("{}{} {} to {}", which.empty() ? "" : ", ", clean_line(missing.name), link.from, link.to);
    }
  }
  for (const auto& [reason, which] : links) lines.push_back(which + ": " + reason);
  return lines;
}

}  // namespace roofline
