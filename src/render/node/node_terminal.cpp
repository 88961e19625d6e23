// A node in a terminal: findings, then the tables.

#include "render/node/node_render.hpp"
#include "render/terminal/table.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string table_text(const NodeTable& shown, const TerminalStyle& style) {
  std::vector<TerminalColumn> columns = {{shown.corner, false, 0, false}};
  for (const std::string& column : shown.columns) columns.push_back({column, true, 0, true, 0});
  TerminalTable table(std::move(columns));
  for (const NodeRow& row : shown.rows) {
    std::vector<Cell> cells = {{shorten(row.label, 26)}};
    for (const NodeCell& cell : row.cells) cells.push_back({cell.text, cell.bad ? Ink::bad : Ink::plain});
    table.add_row(std::move(cells));
  }
  std::string text = "\n" + inked(for_terminal(shown.title, style), Ink::bold, style) + "\n";
  if (!shown.note.empty()) text += wrapped("", for_terminal(shown.note, style), style);
  return text + table.render(style);
}

}  // namespace

std::string render_node_terminal(const Node& node, const TerminalStyle& style) {
  std::string text = inked(for_terminal(shorten(node_headline(node), style.columns), style), Ink::bold, style) + "\n";
  for (const Finding& finding : node_findings(node)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(finding.text, style), style);
  }
  for (const NodeTable& table : node_tables(node)) text += table_text(table, style);
  const std::vector<std::string> missing = node_unmeasured(node);
  if (!missing.empty()) text += "\n" + inked("Not measured", Ink::bold, style) + "\n";
  for (const std::string& line : missing) text += wrapped("  ", for_terminal(line, style), style);
  return text;
}

}  // namespace roofline
