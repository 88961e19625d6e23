// What a reader of a profile wants in ten seconds: how long it took, how long it had to, where the difference is, and
// what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostWins = 20;

/// Class of a part's colour: "w0" to "w10", as in page.css.
std::string part_class(WallPart part) { return fmt::format("w{}", static_cast<int>(part)); }

std::string bar(const Budget& budget) {
  std::string html, words;
  double at = 0;
  for (const WallShare& share : budget.shares) {
    const double width = 100 * share.seconds / budget.wall_s;
    const std::string text = fmt::format("{} {}", budget.text(share), name_of(share.part));
    html += fmt::format("<rect class=\"{}\" x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"26\"><title>{}, {}</title></rect>",
                        part_class(share.part), at, width, escape_html(text), percent(width / 100));
    words += (words.empty() ? "" : ", ") + text;
    at += width;
  }
  return fmt::format(
      "<svg class=\"budget-bar\" height=\"26\" role=\"img\" aria-label=\"{} of wall time: {}\">{}</svg>\n",
      budget.text(budget.steps), escape_html(words), html);
}

std::string parts(const Budget& budget) {
  std::string html = "<ul class=\"parts\">\n";
  for (const WallShare& share : budget.shares) {
    html += fmt::format("<li><i class=\"{}\"></i>{} <b>{}</b> <span>{}</span>\n", part_class(share.part),
                        name_of(share.part), escape_html(budget.text(share)), percent(share.seconds / budget.wall_s));
  }
  return html + "</ul>\n";
}

std::string figure(const Budget& budget, bool named) {
  if (!(budget.wall_s > 0)) return {};
  const std::string caption = named ? fmt::format("<figcaption><b>{}</b> {} of wall time</figcaption>\n",
                                                  escape_html(budget.device), budget.text(budget.steps))
                                    : "";
  return "<figure class=\"budget\">\n" + caption + bar(budget) + parts(budget) + "</figure>\n";
}

std::string win_item(const Report& report, const Win& win, double largest_s) {
  std::string what = html_name(win.what, 120);
  if (win.point >= 0 && static_cast<std::size_t>(win.point) < report.points.size()) {
    what = fmt::format("<a href=\"#row-{}\">{}</a>", win.point, what);
  }
  const double share = largest_s > 0 ? win.seconds / largest_s : 0;
  return fmt::format(
      "<li><span class=\"win\"><b>{}</b><svg class=\"bar\" aria-hidden=\"true\"><rect width=\"{:.1f}%\"/></svg></span>"
      "<div><b>{}</b> <span class=\"chip\">{}</span><small>{}</small><em>{}</em></div>\n",
      duration(win.seconds), std::clamp(100 * share, 0.0, 100.0), what, to_string(win.kind), escape_html(win.evidence),
      escape_html(win.action));
}

}  // namespace

std::string html_answer(const Report& report) {
  const std::vector<Budget> all = budgets(report);
  const std::string rest = where_the_rest_is(report), why = why_no_roofs(report);
  std::string html = fmt::format(
      "<section id=\"answer\" aria-labelledby=\"answer-h\">\n<h2 id=\"answer-h\" class=\"answer\">{}</h2>\n",
      escape_html(answer(report)));
  if (!rest.empty()) html += fmt::format("<p class=\"rest\">{}</p>\n", escape_html(rest));
  if (!why.empty()) html += fmt::format("<p class=\"why\">{}</p>\n", escape_html(why));
  for (const Budget& budget : all) html += figure(budget, all.size() > 1);
  return html + "</section>\n";
}

std::string html_wins(const Report& report) {
  std::vector<Win> wins = report.profile->wins;
  if (wins.empty()) return {};
  std::stable_sort(wins.begin(), wins.end(), [](const Win& a, const Win& b) { return a.seconds > b.seconds; });
  std::string items;
  for (std::size_t i = 0; i < std::min(wins.size(), kMostWins); ++i) {
    items += win_item(report, wins[i], wins.front().seconds);
  }
  const std::string more = wins.size() > kMostWins ? fmt::format(" Shown are {} of {}.", kMostWins, wins.size()) : "";
  return fmt::format(
      "<section id=\"wins\" aria-labelledby=\"wins-h\">\n<h2 id=\"wins-h\">What to do, and what it could win</h2>\n"
      "<p class=\"lead\">Of the wall time at most, the largest first. They may overlap, so they don&#39;t add "
      "up.{}</p>\n"
      "<ol class=\"wins\">\n{}</ol>\n</section>\n",
      more, items);
}

std::string html_chart_lead(const Report& report) {
  const std::string off = off_chart(report);
  if (std::none_of(report.points.begin(), report.points.end(), is_plottable)) {
    return fmt::format("<h2 id=\"chart-h\">The roofs of this GPU</h2>\n<p class=\"lead\">{}</p>\n", escape_html(off));
  }
  return fmt::format(
      "<h2 id=\"chart-h\">The kernels under their roofs</h2>\n<p class=\"lead\">Each mark is a kernel as it is "
      "launched "
      "from one place; its area is the time of all launches. Under a slope it waits for memory, under a level line for "
      "arithmetic; the farther below, the more there is to win.{}{}</p>\n",
      off.empty() ? "" : " ", escape_html(off));
}

}  // namespace roofline
