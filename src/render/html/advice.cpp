// The diagnosis: what holds each kernel back and what to try, the kernels first that have the most to win.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/sections.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKernels = 50;  // nobody acts on more
constexpr std::size_t kMostNames = 30;

struct Diagnosis {
  std::size_t index = 0;  ///< in Report::points
  double lost_s = 0;      ///< time above its roof
  std::vector<Advice> advice;
};

/// Of all points that some rule speaks of.
std::vector<Diagnosis> diagnoses_of(const Report& report) {
  std::vector<Diagnosis> out;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Point& point = report.points[i];
    if (point.status != PointStatus::ok || !point.time) continue;
    std::vector<Advice> advice = advice_for(point, report.machine);
    const double lost = point.profiled ? cost_of(point) * (1 - point.fraction_of_roof())
                                       : point.time->median - point.bound.attainable_time_s;
    if (!advice.empty()) out.push_back({i, lost, std::move(advice)});
  }
  return out;
}

std::string name_link(const Report& report, std::size_t index) {
  return fmt::format("<a href=\"#row-{}\">{}</a>", index, html_name(point_name(report.points[index])));
}

std::string advice_text(const Advice& advice) {
  std::string evidence;
  for (const auto& [quantity, value] : advice.evidence) evidence += fmt::format(" \u00b7 {} {}", quantity, value);
  return fmt::format("<p>{} <em>{}</em><small>{}{} \u00b7 {}</small>", escape_html(advice.finding),
                     escape_html(advice.next), advice.rule, escape_html(evidence), escape_html(advice.source));
}

std::string kernel_item(const Report& report, const Diagnosis& diagnosis) {
  std::string html = fmt::format("<li id=\"next-{}\">{}", diagnosis.index, name_link(report, diagnosis.index));
  for (const Advice& advice : diagnosis.advice) html += advice_text(advice);
  return html + "\n";
}

std::string at_roof_line(const Report& report, const std::vector<Diagnosis>& diagnoses) {
  if (diagnoses.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(diagnoses.size(), kMostNames); ++i)
    names += (i == 0 ? "" : ", ") + name_link(report, diagnoses[i].index);
  if (diagnoses.size() > kMostNames) names += fmt::format(" and {} more", diagnoses.size() - kMostNames);
  return fmt::format("<p id=\"at-roof\"><b>At their roof:</b> {}. {}</p>\n", names,
                     escape_html(diagnoses.front().advice.front().next));
}

}  // namespace

std::string html_advice(const Report& report) {
  std::vector<Diagnosis> open = diagnoses_of(report);
  if (open.empty()) return {};
  const auto split = std::stable_partition(open.begin(), open.end(), [](const Diagnosis& diagnosis) {
    return diagnosis.advice.front().rule != "good-enough";
  });
  const std::vector<Diagnosis> at_roof(std::make_move_iterator(split), std::make_move_iterator(open.end()));
  open.erase(split, open.end());
  std::stable_sort(open.begin(), open.end(),
                   [](const Diagnosis& a, const Diagnosis& b) { return a.lost_s > b.lost_s; });
  std::string items;
  for (std::size_t i = 0; i < std::min(open.size(), kMostKernels); ++i) items += kernel_item(report, open[i]);
  if (!items.empty()) items = fmt::format("<ul class=\"next\">\n{}</ul>\n", items);
  const std::string which = open.size() > kMostKernels ? fmt::format(" Shown are {} of {}.", kMostKernels,
                                                                     count(static_cast<std::int64_t>(open.size())))
                                                       : "";
  return fmt::format(
      "<section id=\"next\" aria-labelledby=\"next-h\">\n<h2 id=\"next-h\">What to do next</h2>\n"
      "<p class=\"lead\">The kernels come first that lose the most time against their roof; of each, what decides "
      "most.{}</p>\n{}{}</section>\n",
      which, items, at_roof_line(report, at_roof));
}

}  // namespace roofline
