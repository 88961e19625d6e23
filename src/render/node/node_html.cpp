// node.html: findings, the roofs of each device, the tables. Complete without a script; the sheet is that of the
// reports.
#include <fmt/format.h>

#include "render/chart/svg_canvas.hpp"
#include "render/html/escape.hpp"
#include "render/html/page.hpp"
#include "render/node/node_chart.hpp"
#include "render/node/node_render.hpp"
#include "report/node_findings.hpp"
#include "report/node_view.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kTableStyle =
    ".node{width:auto}\n.node td,.node th{font-size:13px}\n.node thead th:not(:first-child),.node "
    "td{text-align:right;white-space:nowrap}\n.node tbody th{text-align:left;white-space:nowrap;font-weight:400}\n"
    "#roofs svg{width:auto;max-width:100%;margin:8px 0 0}\n"
    ".node .off{color:var(--bad);background:var(--bad-bg);font-weight:600}\n";

std::string cell_html(const NodeCell& cell) {
  const std::string style = cell.bad ? " class=\"off\"" : "";
  const std::string title = cell.title.empty() ? "" : fmt::format(" title=\"{}\"", escape_html(cell.title));
  return fmt::format("<td{}{}>{}</td>", style, title, escape_html(cell.text));
}

std::string table_html(const NodeTable& table, std::size_t number) {
  std::string html = fmt::format("<section id=\"table-{}\"><h2>{}</h2>\n", number, escape_html(table.title));
  if (!table.note.empty()) html += "<p class=\"lead\">" + escape_html(table.note) + "</p>\n";
  html += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"node\"><thead><tr><th "
      "scope=\"col\">{}</th>",
      escape_html(table.title), escape_html(table.corner));
  for (const std::string& column : table.columns) html += "<th scope=\"col\">" + escape_html(column) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const NodeRow& row : table.rows) {
    html += "<tr><th scope=\"row\">" + html_name(row.label, 40) + "</th>";
    for (const NodeCell& cell : row.cells) html += cell_html(cell);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace

std::string render_node_html(const Node& node) {
  const std::string headline = node_headline(node);
  std::vector<std::string> findings;
  for (Finding& finding : node_findings(node)) findings.push_back(std::move(finding.text));
  std::string body = fmt::format("<header><div><h1>{}</h1>\n<p class=\"sub\">{}</p></div></header>\n<main>\n",
                                 escape_html(headline), escape_html(clean_line(node.host)));
  body += "<section id=\"findings\"><h2>Findings</h2>\n";
  body += findings.empty() ? "<p>No outliers.</p>\n" : html_list("findings", findings);
  body += "</section>\n";
  if (const Scene roofs = node_scene(node, NodeParts::roofs); roofs.width > 0) {
    SvgCanvas canvas;
    body +=
        "<section id=\"roofs\"><h2>Rooflines</h2>\n<p class=\"lead\">The same axes in each. Grey band: typical for "
        "these GPUs. Red: at least 5 % below it. Dashed: all devices busy.</p>\n" +
        draw_scene(roofs, canvas) + "</section>\n";
  }
  const std::vector<NodeTable> tables = node_tables(node);
  for (std::size_t i = 0; i < tables.size(); ++i) body += table_html(tables[i], i + 1);
  if (const std::vector<std::string> missing = node_unmeasured(node); !missing.empty()) {
    body += "<section id=\"unmeasured\"><h2>Not measured</h2>\n" + html_list("unmeasured", missing) + "</section>\n";
  }
  const std::string style = kTableStyle + ("@media (prefers-color-scheme:dark){" + theme_css(Theme::dark) + "}\n");
  return html_still_page("Node: " + headline, node.tool_version, style, body + "</main>\n");
}

}  // namespace roofline
