// fleet.html: outliers and their causes, then the distribution of each ceiling with the outliers named in
// it. Complete without a script; the sheet is that of the reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/find.hpp"
#include "render/fleet/fleet_render.hpp"
#include "render/html/escape.hpp"
#include "render/html/page.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The rest is in fleet.json.
constexpr std::size_t kMostRows = 300;
constexpr std::size_t kMostGroups = 40;
constexpr std::size_t kMostNames = 6;  ///< in a distribution

constexpr const char* kStyle =
    ".outliers td,.outliers th,.norms td,.norms th{font-size:13px}\n"
    ".outliers ul{margin:0;padding-left:16px}\n"
    ".off{color:var(--bad);font-weight:600;white-space:nowrap}\n"
    ".spread-chart{display:block;width:100%;min-width:380px;max-width:560px;height:auto}\n"
    ".spread-chart rect{fill:var(--fill)}\n"
    ".spread-chart path{fill:none;stroke:var(--line)}\n"
    ".spread-chart .middle{stroke:var(--muted)}\n"
    ".spread-chart .limit{stroke:var(--bad);stroke-dasharray:3 3}\n"
    ".spread-chart circle{fill:var(--bad)}\n"
    ".spread-chart .lead-line{stroke:var(--bad);stroke-opacity:.45}\n"
    ".spread-chart text{fill:var(--muted);font-size:11px}\n"
    ".spread-chart .who{fill:var(--bad)}\n"
    ".spread-chart .m{text-anchor:middle}\n.spread-chart .e{text-anchor:end}\n"
    ".norms .name{white-space:nowrap}\n.norms .chart-cell{width:46%}\n"
    ".left td,.left th{font-size:13px}\n"
    "@media screen and (max-width:760px){.norms .name{white-space:normal}}\n";

struct Named {
  double relative = 0;
  std::string who;
};

constexpr double kChartWidth = 560, kChartLeft = 6, kChartRight = 554, kChartBase = 46, kChartHeight = 40;

/// The part of a ceiling's values that is drawn.
struct Range {
  double low = 0, high = 0;
  double x(double relative) const {
    return kChartLeft + (kChartRight - kChartLeft) * (std::clamp(relative, low, high) - low) / (high - low);
  }
};

std::string bars(const CeilingNorm& norm, const Range& range) {
  constexpr int kBins = 80;
  std::array<int, kBins> counts{};
  for (const float value : norm.relative) {
    const double share = (std::clamp<double>(value, range.low, range.high) - range.low) / (range.high - range.low);
    ++counts[static_cast<std::size_t>(std::min(kBins - 1, static_cast<int>(share * kBins)))];
  }
  const int most = *std::max_element(counts.begin(), counts.end());
  const double width = (kChartRight - kChartLeft) / kBins;
  std::string svg;
  for (int i = 0; i < kBins; ++i) {
    if (counts[static_cast<std::size_t>(i)] == 0) continue;
    // The root, so that one machine of thousands is seen.
    const double height =
        std::max(1.5, kChartHeight * std::sqrt(static_cast<double>(counts[static_cast<std::size_t>(i)]) / most));
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", kChartLeft + i * width,
                       kChartBase - height, width - 0.6, height);
  }
  return svg;
}

/// The marks of outliers, each with a label on its own line.
std::string names(const std::vector<Named>& outliers, const Range& range, double& bottom) {
  std::string svg;
  const std::size_t shown = std::min(outliers.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i) {
    const double x = range.x(outliers[i].relative);
    const double y = bottom + 13;
    const bool right = x > kChartWidth / 2;
    svg += fmt::format(
        "<path class=\"lead-line\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><circle cx=\"{0:.1f}\" cy=\"{3:.1f}\" r=\"3\"/>", x,
        kChartBase, y - 3, kChartBase - 3);
    svg += fmt::format("<text class=\"who{}\" x=\"{:.1f}\" y=\"{:.1f}\">{} {:+.1f} %</text>", right ? " e" : "",
                       right ? x - 5 : x + 5, y, escape_html(shorten(outliers[i].who, 44)), 100 * outliers[i].relative);
    bottom = y;
  }
  if (outliers.size() > shown) {
    bottom += 13;
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">and {} more</text>", kChartLeft, bottom, outliers.size() - shown);
  }
  return svg;
}

std::string distribution(const CeilingNorm& norm, const std::vector<Named>& outliers) {
  const auto at = [&](double p) { return norm.quantile(p) / norm.median - 1; };
  Range range{std::min<double>(norm.relative.front(), -1.2 * norm.threshold.value_or(0)), std::max(at(0.999), 0.01)};
  range.low = std::max(std::min(range.low, -0.01), -0.5);
  range.high = std::min(range.high, 0.5);
  double bottom = kChartBase + 12;
  std::string svg = bars(norm, range);
  svg += fmt::format("<path d=\"M{} {}H{}\"/>", kChartLeft, kChartBase, kChartRight);
  svg += fmt::format("<path class=\"middle\" d=\"M{:.1f} {}V{}\"/>", range.x(0), kChartBase, kChartBase + 4);
  if (norm.threshold)
    svg += fmt::format("<path class=\"limit\" d=\"M{:.1f} 4V{}\"/>", range.x(-*norm.threshold), kChartBase + 4);
  svg += fmt::format("<text class=\"e\" x=\"{}\" y=\"{}\">{:+.1f} %</text>", kChartRight, bottom, 100 * range.high);
  // Where there is an outlier, its own mark shows the distance.
  if (outliers.empty())
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{:+.1f} %</text>", kChartLeft, bottom, 100 * range.low);
  if (range.x(0) > 90 && range.x(0) < kChartRight - 90) {
    svg += fmt::format("<text class=\"m\" x=\"{:.1f}\" y=\"{}\">median</text>", range.x(0), bottom);
  }
  svg += names(outliers, range, bottom);
  const std::string title = fmt::format("{}: {} machines around their median, {} outlier{}", norm.label,
                                        norm.relative.size(), outliers.size(), outliers.size() == 1 ? "" : "s");
  return fmt::format("<svg class=\"spread-chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">{}</svg>",
                     kChartWidth, bottom + 5, escape_html(title), svg);
}

std::string norm_row(const CeilingNorm& norm, const std::vector<Named>& outliers) {
  std::string row = fmt::format("<tr><th scope=\"row\" class=\"name\">{}", html_name(norm.label, 40));
  if (!norm.suspects.empty()) row += fmt::format("<small>{} suspect, left out</small>", norm.suspects.size());
  row += "</th>";
  if (norm.relative.empty()) return row + "<td colspan=\"5\">no machine passed the audit</td></tr>\n";
  const auto percents = [](double fraction) { return fmt::format("{:.2g} %", 100 * fraction); };
  row += fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}<small>{} to {}</small></td>",
                     count(static_cast<std::int64_t>(norm.relative.size())),
                     ceiling_value(norm.median, norm.kind, norm.pipe), percents(norm.spread),
                     ceiling_value(norm.quantile(0.05), norm.kind, norm.pipe),
                     ceiling_value(norm.quantile(0.95), norm.kind, norm.pipe));
  row += fmt::format("<td class=\"n\">{}</td><td class=\"chart-cell\">{}</td></tr>\n",
                     norm.threshold ? fmt::format("\u2212{:.1f} %", 100 * *norm.threshold) : kAbsent,
                     norm.relative.size() > 1 ? distribution(norm, outliers) : "");
  return row;
}

std::string norms_table(const FleetGroup& group, const Fleet& fleet, Role role) {
  std::string rows;
  for (const CeilingNorm& norm : group.norms) {
    if (norm.role != role) continue;
    std::vector<Named> named;
    for (const Outlier& outlier : group.outliers) {
      const Deviation* const slow = find_by(outlier.slow, &Deviation::label, norm.label);
      if (slow == nullptr) continue;
      named.push_back({slow->relative, clean_line(fleet_machine(fleet.machines[outlier.machine]))});
    }
    std::sort(named.begin(), named.end(), [](const Named& a, const Named& b) { return a.relative < b.relative; });
    rows += norm_row(norm, named);
  }
  if (rows.empty()) return {};
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
         escape_html((role == Role::roof ? "Roofs of " : "References of ") + clean_line(group.name)) +
         "\"><table "
         "class=\"norms\"><thead><tr>"
         "<th scope=\"col\">Ceiling</th><th scope=\"col\" "
         "class=\"n\">Machines</th><th scope=\"col\" class=\"n\">Median</th><th scope=\"col\" class=\"n\">Spread</th>"
         "<th scope=\"col\" class=\"n\">Outlier below</th><th scope=\"col\">Distribution</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string html = "<ul>";
  for (const std::string& item : items) html += "<li>" + escape_html(clean_line(item)) + "</li>";
  return html + "</ul>";
}

std::string more_rows(std::size_t all) {
  return all > kMostRows ? fmt::format("<p>and {} more, in fleet.json</p>\n", all - kMostRows) : "";
}

std::string reasons(const Outlier& outlier) {
  std::string html = outlier.why.empty() ? "no cause in its file" : list_of(outlier.why);
  if (!outlier.also.empty()) html += "<small>also differs: " + list_of(outlier.also) + "</small>";
  if (!outlier.unrecorded.empty()) {
    html += "<small>not recorded: " + escape_html(fmt::format("{}", fmt::join(outlier.unrecorded, ", "))) + "</small>";
  }
  return html;
}

std::string outlier_row(const Outlier& outlier, const FleetGroup& group, const Fleet& fleet) {
  const MachineSummary& summary = fleet.machines[outlier.machine];
  const Deviation& worst = outlier.slow.front();
  std::string slow =
      fmt::format("<b>{}</b> {}", html_name(worst.label, 40), escape_html(fleet_deviation(worst, group)));
  if (outlier.slow.size() > 1) {
    std::string rest;
    for (std::size_t i = 1; i < outlier.slow.size(); ++i) {
      rest += fmt::format("{}{} {:+.1f} %", i > 1 ? ", " : "", outlier.slow[i].label, 100 * outlier.slow[i].relative);
    }
    slow += fmt::format("<small>{}</small>", escape_html(rest));
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}<small>{}</small></th><td class=\"off\">{:+.1f} %</td><td>{}</td><td>{}</td>"
      "<td>{}<small>{}</small></td></tr>\n",
      html_name(summary.host, 40), escape_html(summary.device()), 100 * worst.relative, slow, reasons(outlier),
      escape_html(html_time(summary.measured_at)), html_name(summary.file, 48));
}

std::string outliers_section(const Fleet& fleet) {
  std::vector<std::pair<const FleetGroup*, const Outlier*>> all;
  for (const FleetGroup& group : fleet.groups) {
    for (const Outlier& outlier : group.outliers) all.emplace_back(&group, &outlier);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second->slow.front().relative < b.second->slow.front().relative;
  });
  std::string html = "<section id=\"outliers\"><h2>Outliers</h2>\n";
  if (all.empty()) {
    const bool complete = std::all_of(fleet.groups.begin(), fleet.groups.end(),
                                      [](const FleetGroup& group) { return group.judged() && group.gaps.empty(); });
    return html + (complete ? "<p>No machine is slower than its peers.</p></section>\n"
                            : "<p>No machine is slower than its peers in the roofs that were judged; the groups below "
                              "list those that were not.</p></section>\n");
  }
  html +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Outliers\"><table "
      "class=\"outliers\"><thead><tr>"
      "<th scope=\"col\">Machine</th><th scope=\"col\">Deviation</th><th scope=\"col\">Ceilings</th>"
      "<th scope=\"col\">Cause, from its file</th><th scope=\"col\">Measured</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i)
    html += outlier_row(*all[i].second, *all[i].first, fleet);
  html += "</tbody></table></div>\n";
  return html + more_rows(all.size()) + "</section>\n";
}

std::string group_section(const FleetGroup& group, const Fleet& fleet, std::size_t number) {
  std::string html = fmt::format("<section id=\"group-{}\"><h2>{}</h2>\n<p class=\"lead\">{}</p>\n", number,
                                 html_name(group.name, 100), fleet_group_outcome(group));
  std::vector<std::string> gaps;
  for (const JudgingGap& gap : group.gaps) gaps.push_back(fleet_gap(gap, group));
  if (!gaps.empty()) html += list_of(gaps);
  if (!group.notes.empty()) html += list_of(group.notes);
  html += norms_table(group, fleet, Role::roof);
  const std::string references = norms_table(group, fleet, Role::reference);
  if (!references.empty()) {
    html += "<details><summary>Reference ceilings: one core, other instructions, latencies</summary>\n" + references +
            "</details>\n";
  }
  return html + "</section>\n";
}

std::string drifts_section(const Fleet& fleet) {
  if (fleet.drifts.empty()) return {};
  std::string html = "<section id=\"changes\"><h2>Changed over time</h2>\n<ul class=\"findings\">\n";
  for (std::size_t i = 0; i < std::min(fleet.drifts.size(), kMostRows); ++i) {
    const CeilingDrift& drift = fleet.drifts[i];
    html += fmt::format("<li><b>{}</b>: {}</li>\n", html_name(fleet_machine(fleet.machines[drift.machine]), 60),
                        escape_html(clean_line(fleet_drift(drift))));
  }
  return html + "</ul>\n" + more_rows(fleet.drifts.size()) + "</section>\n";
}

std::string left_out_section(const Fleet& fleet) {
  if (fleet.left_out.empty()) return {};
  std::string html = fmt::format(
      "<section id=\"left-out\"><details><summary>{} of {} files left out</summary>\n<div class=\"scroll\" "
      "tabindex=\"0\" "
      "role=\"region\" aria-label=\"Files left out\"><table class=\"left\"><thead><tr><th scope=\"col\">File</th>"
      "<th scope=\"col\">Reason</th></tr></thead><tbody>\n",
      count(static_cast<std::int64_t>(fleet.left_out.size())), count(static_cast<std::int64_t>(fleet.files)));
  for (std::size_t i = 0; i < std::min(fleet.left_out.size(), kMostRows); ++i) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_name(fleet.left_out[i].file, 90),
                        escape_html(clean_line(fleet.left_out[i].reason)));
  }
  return html + "</tbody></table></div>\n" + more_rows(fleet.left_out.size()) + "</details></section>\n";
}

constexpr const char* kMethod =
    "<section id=\"method\"><details><summary>Method</summary>\n"
    "<p>A group has equal devices, SMs or threads, memory and power limits; power limits of fewer than one machine in "
    "twenty do not form a group. For each ceiling the norm is the median, and the spread is 1.4826 times the median "
    "absolute deviation. Only ceilings that passed their audit count.</p>\n"
    "<p>An outlier is at least 2.5 % below the median and beyond the noise of its group. The slow tail is extrapolated "
    "as an exponential, the fast tail as a power law, to half a false alarm per 2,000 machines over all ceilings. "
    "Groups of fewer than 50 machines use a multiple of the spread that grows as they get smaller; groups of fewer "
    "than 5 are not compared. Bars show the square root of the number of machines; the dashed line is the "
    "threshold.</p></details></section>\n";

}  // namespace

std::string render_fleet_html(const Fleet& fleet) {
  std::string body = fmt::format(
      "<header><div><h1>{}</h1>\n<p class=\"sub\">{} files read{}, latest calibration of each "
      "machine</p></div></header>\n",
      escape_html(fleet_headline(fleet)), count(static_cast<std::int64_t>(fleet.files)),
      fleet.created_at.empty() ? "" : " " + escape_html(html_time(fleet.created_at)));
  body += "<main>\n" + outliers_section(fleet) + drifts_section(fleet);
  for (std::size_t i = 0; i < std::min(fleet.groups.size(), kMostGroups); ++i) {
    body += group_section(fleet.groups[i], fleet, i + 1);
  }
  if (fleet.groups.size() > kMostGroups) {
    body += fmt::format("<p>and {} more groups, in fleet.json</p>\n", fleet.groups.size() - kMostGroups);
  }
  body += left_out_section(fleet) + kMethod + "</main>\n";
  return html_still_page("Fleet: " + fleet_headline(fleet), fleet.tool_version, kStyle, body);
}

}  // namespace roofline
