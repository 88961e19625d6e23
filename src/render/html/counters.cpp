// Counted beside modelled amounts: a row per kernel, with a line per pipe, level and share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/memory_chart.hpp"
#include "render/html/sections.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
#include "report/occupancy_text.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

struct Share {
  std::string_view name;
  std::string_view id;  ///< of docs/counters.md
};
constexpr std::string_view kTensorPipe = "tensor.active";
constexpr Share kShares[] = {
    {"occupancy", "occupancy"}, {"tensor pipe", kTensorPipe}, {"L2 hits", "l2.hit_rate"}, {"L1 hits", "l1.hit_rate"}};

/// Only GPUs have the last two.
constexpr const char* kCountedColumns[] = {"Kernel", "FLOPs", "Bytes", "Activity", "Grid \u00d7 block"};
constexpr std::size_t kCpuColumns = 3;

bool is_counted(const Point& point) { return point.counters.has_value(); }

std::string list_cell(const std::string& lines) {
  return lines.empty() ? fmt::format("<td>{}", kAbsent) : fmt::format("<td><dl>{}</dl>", lines);
}

/// "1.02×", and marked where the counters contradict the model. A cache's traffic has no model to contradict.
std::string ratio_text(const CountedAmount& amount) {
  constexpr double kHigh = 1.25, kLow = 0.8;
  if (!std::isfinite(amount.ratio)) return {};
  const std::string text = amount.ratio == 1 ? "exact" : factor(amount.ratio);
  if (amount.kind == CeilingKind::compute && amount.counted == 0) {
    return "<abbr title=\"The counters do not count maxima, comparisons and conversions as FLOPs\">none</abbr>";
  }
  if (amount.name == "l1" && amount.ratio < kLow) {
    return fmt::format("<abbr title=\"TMA loads bypass L1\">{}</abbr>", text);
  }
  const bool contradicts = std::isfinite(amount.modelled) && (amount.ratio > kHigh || amount.ratio < kLow);
  return contradicts ? fmt::format("<b class=\"warn\">{}</b>", text) : text;
}

/// A line each: "hbm 2.15 → 2.19 GB 1.02×".
std::string amounts_cell(const std::vector<CountedAmount>& amounts, CeilingKind kind, bool of_program) {
  std::string html;
  for (const CountedAmount& amount : amounts) {
    if (amount.kind != kind) continue;
    const std::string_view unit = unit_of(amount);
    const std::string modelled =
        !of_program && std::isfinite(amount.modelled) ? si(amount.modelled, unit) + " \u2192 " : "";
    const std::string counted = std::isfinite(amount.counted) ? si(amount.counted, unit) : "not counted";
    const std::string ratio = of_program ? "" : ratio_text(amount);
    html += fmt::format("<dt>{}<dd>{}{}", amount.name, modelled, counted);
    if (!ratio.empty()) html += "<dd>" + ratio;
  }
  return list_cell(html);
}

std::string shares_cell(const Counters& counters) {
  std::string html;
  for (const Share& share : kShares) {
    const auto value = counters.find(share.id);
    // Most kernels are not matrix products: an idle tensor pipe says nothing about them.
    if (!value || (*value == 0 && share.id == kTensorPipe)) continue;
    // The two cycle counts come from different passes, so that their ratio can exceed 1 slightly.
    html += fmt::format("<dt>{}<dd>{}", share.name, percent(std::min(1.0, *value)));
  }
  return list_cell(html);
}

std::string layout_line(const KernelLaunch& kernel) {
  std::string html = fmt::format("{} \u00d7 {}<small>{} registers, {} shared</small>", count(kernel.blocks),
                                 count(kernel.threads), kernel.registers, binary_bytes(kernel.shared_bytes));
  const std::string changes = occupancy_changes_text(kernel);
  if (!changes.empty()) {
    html += fmt::format(
        "<small><abbr title=\"{} More would fit with {}. Each alone, with nothing else changed.\">{} fit an "
        "SM, {}</abbr></small>",
        resident_blocks_text(kernel), changes, counted_noun(kernel.blocks_per_sm, "block", "blocks"),
        percent(kernel.occupancy));
  }
  return html;
}

std::string layout_cell(const std::vector<KernelLaunch>& kernels) {
  constexpr std::size_t kMost = 3;
  std::string html = "<td>";
  if (kernels.empty()) html += kAbsent;
  for (std::size_t i = 0; i < std::min(kernels.size(), kMost); ++i) html += layout_line(kernels[i]);
  if (kernels.size() > kMost) html += fmt::format("<small>and {} more kernels</small>", kernels.size() - kMost);
  return html;
}

std::string row(const Report& report, const Point& point) {
  const DeviceKind device = report.machine.device.kind;
  const std::vector<CountedAmount> amounts = counted_against_model(point, device);
  const bool of_program = point.profiled.has_value();
  std::string html = fmt::format("<tr><th scope=\"row\">{}{}{}", html_name(point_name(point)),
                                 amounts_cell(amounts, CeilingKind::compute, of_program),
                                 amounts_cell(amounts, CeilingKind::bandwidth, of_program));
  if (device == DeviceKind::cuda) html += shares_cell(*point.counters) + layout_cell(point.counters->kernels);
  return html + "\n";
}

std::string head(DeviceKind device) {
  const std::span columns(kCountedColumns);
  std::string html = "<thead><tr>";
  for (const char* title : device == DeviceKind::cpu ? columns.first(kCpuColumns) : columns) {
    html += fmt::format("<th scope=\"col\">{}", title);
  }
  return html + "</tr></thead>\n";
}

/// "CUPTI 13.0 on GH100, in 4 passes": of the first point, for one process counts all.
std::string source_of(const Report& report) {
  const Counters& counters = *std::find_if(report.points.begin(), report.points.end(), is_counted)->counters;
  const std::string source = counters.source.empty() ? "hardware counters" : escape_html(counters.source);
  if (counters.passes < 1) return source;
  return fmt::format("{}, in {} {}", source, counters.passes, counters.passes == 1 ? "pass" : "passes");
}

/// Unavailable counters, grouped by reason.
std::string missing_list(const Report& report) {
  std::map<std::string, std::set<std::string>> ids;
  for (const Point& point : report.points) {
    if (!point.counters) continue;
    for (const auto& [id, reason] : point.counters->missing) ids[reason].insert(id);
  }
  if (ids.empty()) return {};
  std::string html = "<details><summary>Requested counters that were not available</summary>\n<ul>\n";
  for (const auto& [reason, names] : ids) {
    html += "<li>";
    for (const std::string& name : names) html += (name == *names.begin() ? "" : ", ") + escape_html(name);
    html += fmt::format("<small>{}</small>\n", escape_html(reason));
  }
  return html + "</ul></details>\n";
}

}  // namespace

std::string html_counters(const Report& report) {
  if (std::none_of(report.points.begin(), report.points.end(), is_counted)) return {};
  std::string rows;
  for (const Point& point : report.points) {
    if (point.counters) rows += row(report, point);
  }
  const char* title = report.profile ? "Hardware counters" : "Counted and modelled work";
  const char* lead =
      report.profile ? "FLOPs and bytes per launch, counted during the run by"
                     : "Work model \u2192 hardware count, and their ratio. Caches: bytes delivered over the compulsory "
                       "bytes of main memory. Counters include every executed addition, multiplication and FMA: more "
                       "than the model for polynomial exponentials, none for maxima. Counted after timing by";
  return fmt::format(
      "<section id=\"counted\" aria-labelledby=\"counted-h\">\n<h2 id=\"counted-h\">{}</h2>\n<p class=\"lead\">{} "
      "{}.</p>\n"
      "{}<div class=\"scroll\"><table class=\"cards\">\n{}<tbody>\n{}</tbody></table></div>\n{}</section>\n",
      title, lead, source_of(report), html_memory_charts(report), head(report.machine.device.kind), rows,
      missing_list(report));
}

std::string html_counters_css() {
  return html_column_names("#counted", {std::begin(kCountedColumns), std::end(kCountedColumns)});
}

}  // namespace roofline
