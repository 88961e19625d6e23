// The verdict on each kernel: limiting cause, evidence, action and potential saving.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/hotspots.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostVerdicts = 60;  // the table has the rest

std::string gain_text(const Verdict& verdict) {
  if (!std::isfinite(verdict.gain_s)) return "unknown";
  const bool many = verdict.total_gain_s > 1.5 * verdict.gain_s;
  return duration(verdict.total_gain_s) + (many ? fmt::format("<small>{} each</small>", duration(verdict.gain_s)) : "");
}

std::string also_list(const Verdict& verdict) {
  if (verdict.also.empty()) return {};
  std::string html = fmt::format("<details><summary>{} more {}</summary><ul>", verdict.also.size(),
                                 verdict.also.size() == 1 ? "observation" : "observations");
  for (const Observation& one : verdict.also) html += "<li>" + escape_html(one.text);
  return html + "</ul></details>";
}

std::string kernel_item(const Report& report, const Verdict& verdict) {
  return fmt::format(
      "<li id=\"verdict-{0}\" class=\"v-{1}\"><span class=\"saving\"><b>{2}</b></span><div><p><b>{3}</b> <span "
      "class=\"chip\">{4}</span></p><p>{5} <em>{6}</em></p><small>{7}</small>{8}</div>\n",
      verdict.row, to_string(verdict.kind), gain_text(verdict), html_row_link(report, verdict.row),
      kind_words(verdict.kind), escape_html(verdict.finding), html_sentences(verdict.action),
      escape_html(grounds_text(verdict)), also_list(verdict));
}

/// Only their number: the names are in the table.
std::string at_roof_line(const std::vector<Verdict>& verdicts) {
  std::string action;
  std::size_t n = 0;
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != VerdictKind::at_roof) continue;
    ++n;
    action = verdict.action;
  }
  if (n == 0) return {};
  return fmt::format("<p id=\"at-roof\"><b>At their roof:</b> <a href=\"#spend\">{} {}</a>. {}</p>\n",
                     count(static_cast<std::int64_t>(n)), n == 1 ? "kernel" : "kernels", escape_html(action));
}

}  // namespace

std::vector<const Verdict*> listed_verdicts(const std::vector<Verdict>& verdicts) {
  std::vector<const Verdict*> listed;
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != VerdictKind::at_roof && listed.size() < kMostVerdicts) listed.push_back(&verdict);
  }
  return listed;
}

std::string html_verdict_cell(const Verdict& verdict, bool listed) {
  const std::string words = verdict.kind == VerdictKind::at_roof && verdict.rule == "good-enough"
                                ? "At its roof: stop here."
                                : verdict.finding;
  const std::string text =
      listed ? fmt::format("<a href=\"#verdict-{}\">{}</a>", verdict.row, escape_html(words)) : escape_html(words);
  const bool chip = verdict.kind == VerdictKind::measure;
  return (chip ? fmt::format("<span class=\"chip warning\">{}</span> ", kind_words(verdict.kind)) : "") + text;
}

std::string html_verdicts(const Report& report, const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return {};
  const std::vector<const Verdict*> listed = listed_verdicts(verdicts);
  std::string items;
  for (const Verdict* verdict : listed) items += kernel_item(report, *verdict);
  if (!items.empty()) items = fmt::format("<ol class=\"verdicts\">\n{}</ol>\n", items);
  const auto open = std::count_if(verdicts.begin(), verdicts.end(),
                                  [](const Verdict& verdict) { return verdict.kind != VerdictKind::at_roof; });
  const std::string which = static_cast<std::size_t>(open) > listed.size()
                                ? fmt::format(" {} of {} shown; the table lists all.", listed.size(), count(open))
                                : "";
  return fmt::format(
      "<section id=\"verdicts\" aria-labelledby=\"verdicts-h\">\n<h2 id=\"verdicts-h\">Verdicts</h2>\n"
      "<p class=\"lead\">Limiting cause, evidence, one action and potential saving of each kernel, largest saving "
      "first.{}</p>\n{}{}</section>\n",
      which, items, at_roof_line(verdicts));
}

}  // namespace roofline
