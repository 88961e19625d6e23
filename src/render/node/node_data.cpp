// A node for documents and spreadsheets: node.md and node.csv.
#include <fmt/format.h>

#include "render/csv_fields.hpp"
#include "render/markdown_text.hpp"
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

/// What all lines have; the value is that of one figure.
struct NodeFigure {
  std::string_view part;  ///< alone, together, link
  std::string from, to;   ///< indices; `to` of links only
  std::string name;
  Regime regime = Regime::burst;
  double value = 0;
  Interval ci95;
  std::string_view unit;
  std::optional<double> core_hz;
  std::string audit;
  std::optional<double> of_alone;  ///< together
};

CsvRow row_of(const Node& node, const NodeFigure& figure) {
  return {{"host", csv_text(node.host_name)},
          {"measured_at", csv_text(node.measured_at)},
          {"part", std::string(figure.part)},
          {"device", figure.from},
          {"to", figure.to},
          {"ceiling", csv_text(figure.name)},
          {"regime", std::string(to_string(figure.regime))},
          {"value", csv_number(figure.value)},
          {"low", csv_number(figure.ci95.low)},
          {"high", csv_number(figure.ci95.high)},
          {"unit", std::string(figure.unit)},
          {"core_hz", figure.core_hz ? csv_number(*figure.core_hz) : ""},
          {"of_alone", figure.of_alone ? csv_number(*figure.of_alone) : ""},
          {"audit", figure.audit}};
}

NodeFigure figure_of(std::string_view part, int from, const Ceiling& ceiling) {
  return {.part = part,
          .from = std::to_string(from),
          .to = {},
          .name = ceiling.name,
          .regime = ceiling.regime,
          .value = ceiling.value,
          .ci95 = ceiling.ci95,
          .unit = unit_of(ceiling.kind),
          .core_hz = ceiling.clocks.core_hz,
          .audit = std::string(to_string(ceiling.audit.status())),
          .of_alone = {}};
}

}  // namespace

std::string render_node_markdown(const Node& node) {
  std::string text = "# " + escape_markdown(node_headline(node)) + "\n";
  const std::vector<std::string> findings = node_findings(node);
  if (!findings.empty()) text += '\n';
  for (const std::string& sentence : findings) text += "- " + escape_markdown(sentence) + "\n";
  for (const NodeTable& table : node_tables(node)) text += markdown_table(table);
  const std::vector<std::string> missing = node_unmeasured(node);
  if (!missing.empty()) text += "\n## Not measured\n\n";
  for (const std::string& line : missing) text += "- " + escape_markdown(line) + "\n";
  return text;
}

std::string render_node_csv(const Node& node) {
  std::string text = csv_names(row_of(node, {}));
  for (const Machine& machine : node.machines) {
    for (const Ceiling& ceiling : machine.ceilings) {
      text += csv_line(row_of(node, figure_of("alone", machine.device.index, ceiling)));
    }
  }
  for (const SharedCeiling& shared : node.together) {
    for (const auto& [part, rate] : {std::pair("alone beside", shared.alone), {"together", shared.together}}) {
      NodeFigure figure{.part = part,
                        .from = std::to_string(shared.device),
                        .to = {},
                        .name = shared.name,
                        .regime = shared.regime,
                        .value = rate.value,
                        .ci95 = rate.ci95,
                        .unit = unit_of(shared.kind),
                        .core_hz = rate.core_hz,
                        .audit = {},
                        .of_alone = {}};
      if (part == std::string_view("together")) figure.of_alone = shared.ratio();
      text += csv_line(row_of(node, figure));
    }
  }
  for (const Link& link : node.links) {
    for (const Ceiling& ceiling : link.ceilings) {
      NodeFigure figure = figure_of("link", link.from, ceiling);
      figure.to = std::to_string(link.to);
      text += csv_line(row_of(node, figure));
    }
  }
  return text;
}

}  // namespace roofline
