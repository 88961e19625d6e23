// Where to spend time: one line for each cause, with a bar for its potential saving. Equal findings are merged.
#include "report/hotspots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/step_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kShown = 7, kMost = 40, kMostNames = 30;

/// The kernels that the sentence names, and how: it begins with one or two.
struct Named {
  std::string plain, links;
};
Named named_in(const Report& report, const Hotspot& hotspot) {
  Named named;
  for (const std::size_t row : hotspot.rows) {
    const std::string_view between = named.plain.empty() ? "" : " and ";
    named.plain += between;
    named.plain += point_name(report.points[row]);
    named.links += between;
    named.links += html_row_link(report, row);
  }
  return hotspot.rows.size() <= 2 && hotspot.text.starts_with(named.plain) ? named : Named();
}

std::string text_of(const Report& report, const Hotspot& hotspot) {
  if (const Named named = named_in(report, hotspot); !named.plain.empty())
    return named.links + escape_html(hotspot.text.substr(named.plain.size()));
  // A chain of kernels can be as long as a page; the cause of one kernel is a sentence or two.
  return escape_html(shorten(hotspot.text, hotspot.what.empty() ? 600 : 200));
}

std::string names_of(const Report& report, const std::vector<std::size_t>& rows) {
  std::string names;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostNames); ++i)
    names += (i == 0 ? "" : ", ") + html_row_link(report, rows[i]);
  return names + (rows.size() > kMostNames ? fmt::format(" and {} more", rows.size() - kMostNames) : "");
}

std::string which(const Report& report, const Hotspot& hotspot) {
  if (hotspot.rows.size() < 2 || !named_in(report, hotspot).plain.empty()) return {};
  return fmt::format("<details><summary>All {} kernels</summary>{}.</details>", hotspot.rows.size(),
                     names_of(report, hotspot.rows));
}

std::string item(const Report& report, const Hotspot& hotspot, double largest_s) {
  const std::string tag = hotspot.what.empty() ? std::string(kind_words(hotspot.kind)) : hotspot.what;
  const bool known = std::isfinite(hotspot.seconds);
  const double share = largest_s > 0 && known ? hotspot.seconds / largest_s : 0;
  return fmt::format(
      "<li class=\"v-{}\"><span class=\"saving\"><b>{}</b><svg class=\"bar\" aria-hidden=\"true\"><rect "
      "width=\"{:.1f}%\"/></svg></span><div><p><span class=\"chip\">{}</span> {}</p>{}{}</div><p "
      "class=\"do\">{}</p>\n",
      to_string(hotspot.kind),
      hotspot.memory ? "memory"
      : known        ? duration(hotspot.seconds)
                     : "?",
      std::clamp(100 * share, 0.0, 100.0), tag, text_of(report, hotspot) + once_text(report, hotspot),
      hotspot.what.empty() || hotspot.evidence.empty()
          ? ""
          : fmt::format("<small>{}</small>", escape_html(hotspot.evidence)),
      which(report, hotspot), html_sentences(hotspot.action));
}

}  // namespace

std::string html_row_link(const Report& report, std::size_t index) {
  return fmt::format("<a href=\"#row-{}\">{}</a>", index, html_name(point_name(report.points[index])));
}

std::string html_hotspots(const Report& report, const std::vector<Verdict>& verdicts) {
  const std::vector<Hotspot> all = hotspots_of(report, verdicts);
  std::string first, later, rest;
  std::size_t shown = 0, more = 0;
  double later_s = 0, largest_s = 0;
  for (const Hotspot& hotspot : all)
    largest_s = std::isfinite(hotspot.seconds) ? std::max(largest_s, hotspot.seconds) : largest_s;
  for (const Hotspot& hotspot : all) {
    // Causes without a potential saving, or with an unknown one, follow in one line each.
    const bool has_saving =
        (hotspot.memory || !(hotspot.seconds <= 0)) && hotspot.kind != VerdictKind::at_roof && !hotspot.beside;
    if (!has_saving || (!std::isfinite(hotspot.seconds) && hotspot.kind == VerdictKind::no_roof)) {
      rest += fmt::format("<p class=\"rest-of\"><span class=\"chip\">{}</span> {} {}</p>\n",
                          hotspot.beside ? "clock" : kind_words(hotspot.kind), text_of(report, hotspot),
                          which(report, hotspot));
      continue;
    }
    if (shown < kShown) {
      first += item(report, hotspot, largest_s);
      ++shown;
    } else {
      if (more++ < kMost) later += item(report, hotspot, largest_s);
      if (std::isfinite(hotspot.seconds)) later_s += hotspot.seconds;
    }
  }
  if (first.empty() && rest.empty()) return {};
  if (!later.empty()) {
    const std::string cut = more > kMost ? fmt::format("<p>First {} shown.</p>", kMost) : "";
    later = fmt::format(
        "<details class=\"fold\"><summary>{} more, at most {}</summary><ol class=\"spend\">\n{}</ol>{}</details>\n",
        more, duration(later_s), later, cut);
  }
  return fmt::format(
      "<section id=\"spend\" aria-labelledby=\"spend-h\">\n<h2 id=\"spend-h\">Where to spend time</h2>\n"
      "<p class=\"lead\">{}</p>\n{}{}{}</section>\n",
      report.profile && report.profile->steps
          ? "Upper bounds on the time saved in each step, largest first. No time is counted twice."
      : report.profile ? "Upper bounds on the wall time saved, largest first. They overlap: do not add them up."
                       : "Upper bounds on the time saved per launch, largest first, with one action each.",
      first.empty() ? "" : "<ol class=\"spend\">\n" + first + "</ol>\n", later, rest);
}

}  // namespace roofline
