// A node for documents and spreadsheets: node.md and node.csv.

#include "render/columns.hpp"
#include "render/node/node_render.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string markdown_table(const NodeTable& table) {
  std::string text = "\n## " + escape_markdown(table.title) + "\n\n";
  if (!table.note.empty()) text += escape_markdown(table.note) + "\n\n";
  std::vector<std::string> head = {escape_markdown(table.corner)}, rule = {":--"};
  for (const std::string& column : table.columns) {
    head.push_back(escape_markdown(column));
    rule.emplace_back("--:");
  }
  append_markdown_row(text, head);
  append_markdown_row(text, rule);
  for (const NodeRow& row : table.rows) {
    std::vector<std::string> cells = {escape_markdown(row.label)};
    for (const NodeCell& cell : row.cells) {
      const std::string shown = escape_markdown(cell.text);
      cells.push_back(cell.bad ? "**" + shown + "**" : shown);
    }
    append_markdown_row(text, cells);
  }
  return text;
}

/// A figure, with the keys that all lines have.
struct NodeFigure {
  const Node* node;
  std::string_view part;  ///< alone, together, link
  int from = 0;           ///< index
  std::string to = {};    ///< of links only
  std::string name;
  Regime regime = Regime::burst;
  double value = 0;
  Interval ci95;
  std::string_view unit;
  std::optional<double> core_hz = {};
  std::string audit = {};
  std::optional<double> of_alone = {};  ///< together
};

Value or_absent(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

template <auto figure>
constexpr auto node_csv(std::string_view key, bool (*when)(const Node&) = nullptr) {
  return csv_column<figure, NodeFigure, Node>(key, when);
}

constexpr Column<NodeFigure, Node> kNodeColumns[] = {
    node_csv<[](const NodeFigure& f) { return f.node->host_name; }>("host"),
    node_csv<[](const NodeFigure& f) { return f.node->measured_at; }>("measured_at"),
    node_csv<[](const NodeFigure& f) { return std::string(f.part); }>("part"),
    node_csv<[](const NodeFigure& f) { return std::int64_t{f.from}; }>("device"),
    node_csv<[](const NodeFigure& f) { return f.to; }>("to"),
    node_csv<[](const NodeFigure& f) { return f.name; }>("ceiling"),
    node_csv<[](const NodeFigure& f) { return std::string(to_string(f.regime)); }>("regime"),
    node_csv<[](const NodeFigure& f) { return f.value; }>("value"),
    node_csv<[](const NodeFigure& f) { return f.ci95.low; }>("low"),
    node_csv<[](const NodeFigure& f) { return f.ci95.high; }>("high"),
    node_csv<[](const NodeFigure& f) { return std::string(f.unit); }>("unit"),
    node_csv<[](const NodeFigure& f) { return or_absent(f.core_hz); }>("core_hz"),
    node_csv<[](const NodeFigure& f) { return or_absent(f.of_alone); }>("of_alone"),
    node_csv<[](const NodeFigure& f) { return f.audit; }>("audit"),
};

NodeFigure figure_of(const Node& node, std::string_view part, int from, const Ceiling& ceiling) {
  return {.node = &node,
          .part = part,
          .from = from,
          .name = ceiling.name,
          .regime = ceiling.regime,
          .value = ceiling.value,
          .ci95 = ceiling.ci95,
          .unit = unit_of(ceiling.kind),
          .core_hz = ceiling.clocks.core_hz,
          .audit = std::string(to_string(ceiling.audit.status()))};
}

}  // namespace

std::string render_node_markdown(const Node& node) {
  std::string text = "# " + escape_markdown(node_headline(node)) + "\n";
  const Findings findings = node_findings(node);
  if (!findings.empty()) text += '\n';
  for (const Finding& finding : findings) text += "- " + escape_markdown(finding.text) + "\n";
  for (const NodeTable& table : node_tables(node)) text += markdown_table(table);
  const std::vector<std::string> missing = node_unmeasured(node);
  if (!missing.empty()) text += "\n## Not measured\n\n";
  for (const std::string& line : missing) text += "- " + escape_markdown(line) + "\n";
  return text;
}

std::string render_node_csv(const Node& node) {
  std::vector<NodeFigure> rows;
  for (const Machine& machine : node.machines) {
    for (const Ceiling& ceiling : machine.ceilings)
      rows.push_back(figure_of(node, "alone", machine.device.index, ceiling));
  }
  for (const SharedCeiling& shared : node.together) {
    for (const auto& [part, rate] : {std::pair("alone beside", shared.alone), {"together", shared.together}}) {
      rows.push_back({.node = &node,
                      .part = part,
                      .from = shared.device,
                      .name = shared.name,
                      .regime = shared.regime,
                      .value = rate.value,
                      .ci95 = rate.ci95,
                      .unit = unit_of(shared.kind),
                      .core_hz = rate.core_hz});
    }
    rows.back().of_alone = shared.ratio();
  }
  for (const Link& link : node.links) {
    for (const Ceiling& ceiling : link.ceilings) {
      rows.push_back(figure_of(node, "link", link.from, ceiling));
      rows.back().to = std::to_string(link.to);
    }
  }
  return csv_table(std::span<const Column<NodeFigure, Node>>(kNodeColumns), node, rows);
}

}  // namespace roofline
