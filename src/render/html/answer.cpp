// The top of the page: how long the run took, and how long its work needs at the roofs.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/hotspots.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "report/step_findings.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Class of a part's colour: "w0" to "w13", as in page.css and profile.css.
std::string part_class(WallPart part) { return fmt::format("w{}", static_cast<int>(part)); }

std::string bar(const Budget& budget) {
  std::string html, words;
  double at = 0;
  for (const WallShare& share : budget.shares) {
    const double width = 100 * share.seconds / budget.wall_s;
    const std::string text = fmt::format("{} {}", budget.text(share), name_of(share.part));
    html += fmt::format("<rect class=\"{}\" x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"22\"><title>{}, {}</title></rect>",
                        part_class(share.part), at, width, escape_html(text), percent(width / 100));
    words += (words.empty() ? "" : ", ") + text;
    at += width;
  }
  return fmt::format("<svg class=\"budget-bar\" height=\"22\" role=\"img\" aria-label=\"{}: {}\">{}</svg>\n",
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

std::string figure(const Budget& budget, bool named, const std::string& of) {
  if (!(budget.wall_s > 0)) return {};
  const std::string caption = named ? fmt::format("<figcaption><b>{}</b> {} of {}</figcaption>\n",
                                                  escape_html(budget.device), budget.text(budget.steps), of)
                                    : "";
  return "<figure class=\"budget\">\n" + caption + bar(budget) + parts(budget) + "</figure>\n";
}

/// What changed, unless a limit was set: the page lists the regressions below.
std::string headline_of(const Comparison& comparison) {
  const bool states_changes = !comparison.gate && comparison.now->complete;
  return states_changes ? comparison_headline(comparison) : outcome_line(comparison);
}

}  // namespace

std::string html_answer(const Report& report, const std::vector<Verdict>& verdicts, const Comparison* comparison) {
  if (report.points.empty() && !report.profile) return {};
  const std::vector<Budget> all = budgets(report);
  const std::string rest = report.profile ? time_above_roofs(report) : "";
  const std::string why = report.profile ? why_no_roofs(report) : "";
  std::string html = fmt::format(
      "<section id=\"answer\" aria-labelledby=\"answer-h\">\n<h2 id=\"answer-h\" class=\"answer\">{}</h2>\n",
      escape_html(comparison != nullptr ? headline_of(*comparison) : answer(report)));
  if (comparison != nullptr) {
    html += fmt::format("<p class=\"rest\">{}: {}</p>\n", comparison_names(*comparison).second,
                        escape_html(answer(report)));
  }
  const std::string first = first_action(report, hotspots_of(report, verdicts));
  if (!first.empty()) html += fmt::format("<p class=\"rest\"><b>{}</b></p>\n", html_sentences(first));
  if (!rest.empty()) html += fmt::format("<p class=\"rest above\">{}</p>\n", escape_html(rest));
  if (!why.empty()) html += fmt::format("<p class=\"why\">{}</p>\n", escape_html(why));
  if (const std::string none = why_no_steps(report); !none.empty()) {
    html += fmt::format("<p class=\"why\">{}</p>\n", escape_html(none));
  }
  const bool steps = report.profile && report.profile->steps;
  const std::string of = steps ? "a step" : has_wall_time(report) ? "wall time" : "kernel time";
  for (const Budget& budget : all) html += figure(budget, all.size() > 1, of);
  return html + "</section>\n";
}

std::string html_chart_lead(const Report& report) {
  const std::string off = report.profile ? off_chart(report) : "";
  if (std::none_of(report.points.begin(), report.points.end(),
                   [&](const Point& point) { return has_mark(report, point); })) {
    return fmt::format("<h2 id=\"chart-h\">The roofs of this machine</h2>\n{}",
                       off.empty() ? "" : fmt::format("<p class=\"lead\">{}</p>\n", escape_html(off)));
  }
  const char* least = std::any_of(report.points.begin(), report.points.end(), bytes_is_lower_bound)
                          ? "<li>An arrow to the left: bytes are modelled, a lower bound. The true intensity is at "
                            "most the one shown.\n"
                          : "";
  const char* edge = std::any_of(report.points.begin(), report.points.end(),
                                 [&](const Point& point) { return edge_bandwidth(report, point) > 0; })
                         ? "<li>At the left edge: kernels without FLOPs. Their height under a memory roof is their "
                           "bandwidth.\n"
                         : "";
  return fmt::format(
      "<h2 id=\"chart-h\">The kernels under their roofs</h2>\n<ul class=\"how\">\n"
      "<li>Each mark is a {}. Right: more FLOPs per byte of main memory. Up: more FLOP/s.\n"
      "<li>Below a sloped line a kernel is memory-bound, below a horizontal line compute-bound. That line is its "
      "roof.\n"
      "<li>The gap to the roof is the potential speedup. Both axes are logarithmic: equal gaps are equal factors.\n{}{}"
      "<li>Hover or tap a mark for its figures and its limiting roof.{}\n</ul>\n",
      report.profile ? "launch signature (kernel, grid and call site)" : "kernel", least, edge,
      off.empty() ? "" : " " + escape_html(off));
}

}  // namespace roofline
